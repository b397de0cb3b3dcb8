import FoundationEssentials
import RxHTTP
import TestServers

/// The description of the request by `/echo` of ``NginxServer``.
struct Echo: Decodable {
    let method, target, test, authorization, cookie, contentType, contentLength: String
    let expect, accept, encoding, agent, `protocol`, scheme, connection, request, remote, host: String
}

extension Response {
    /// The body as `/echo` writes it.
    func echo() throws -> Echo { try JSONDecoder().decode(Echo.self, from: Data(body)) }
}
