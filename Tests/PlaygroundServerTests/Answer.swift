import FoundationEssentials
import TestServers
import Testing

/// The response of a server to one request, sent on a separate connection.
struct Answer {
    let status: Int
    let head: String
    let body: String

    init(
        _ method: String, _ target: String, at baseURL: String, fields: [String: String] = [:],
        body: String = ""
    ) async throws {
        let port = try #require(baseURL.split(separator: ":").last.flatMap { UInt16($0) })
        let lines = fields.map { "\($0): \($1)\r\n" }.joined()
        let text = try await PlainClient.exchange(
            "\(method) \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\(lines)\r\n\(body)",
            port: port)
        let end = try #require(text.firstRange(of: "\r\n\r\n"))
        head = String(text[..<end.lowerBound])
        self.body = String(text[end.upperBound...])
        status = try #require(head.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }

    func decoded<Document: Decodable>(_ type: Document.Type) throws -> Document {
        try JSONDecoder().decode(type, from: Data(body.utf8))
    }
}
