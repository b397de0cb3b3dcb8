/// A DNS server over HTTPS (RFC 8484) that knows a few names. It speaks HTTP without TLS, so it needs a TLS
/// server in front of it, such as `/relay` of an ``NginxServer``.
public final class DNSOverHTTPSServer: Sendable {
    /// A question of a query.
    public typealias Question = DNSMessage.Question

    private let server: RawServer

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - hosts: the IPv4 addresses by name, as four bytes. Other names do not exist.
    ///   - before: the steps before each answer, such as waiting for a gate.
    public init(hosts: [String: [UInt8]], before: [RawServer.Step] = []) throws(SystemError) {
        server = try RawServer { request in
            guard request.method == "POST", request.field("Content-Type") == "application/dns-message",
                let question = DNSMessage.question(in: request.body)
            else { return [.respond(400)] }
            let answer = DNSMessage.answer(to: request.body, question, hosts[question.name])
            let head = """
                HTTP/1.1 200 OK\r
                Content-Type: application/dns-message\r
                Content-Length: \(answer.count)\r
                \r

                """
            return before + [.send(Array(head.utf8) + answer)]
        }
    }

    /// The port on 127.0.0.1.
    public var port: UInt16 { server.port }

    /// The questions so far.
    public var questions: [Question] {
        server.record.requests.compactMap { DNSMessage.question(in: $0.body) }
    }

    /// Waits for the next request.
    public func nextRequest() async throws { _ = try await server.nextRequest() }
}
