import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

/// Easy handles are used again without a reset: nothing of one request may appear in the next.
@Suite(.timeLimit(.minutes(1))) struct HandleReuseTests {
    /// Requests that each set a different option of the handle.
    enum Kind: String, CaseIterable {
        case plain, fields, emptyField, otherTarget, head, emptyPost, form, named, put, large, customWithBody
        case custom, userInfo, timeouts

        func request(on server: RawServer) throws -> Request {
            let plain = server.baseURL + "/a/../b?c=d"
            var request =
                switch self {
                case .plain, .fields, .emptyField, .timeouts: try Request.to(plain)
                case .otherTarget:
                    try Request.to(server.baseURL + "/longer/path/than/the/others?x=1&y=2#part")
                case .head: try Request.to(plain, method: .head)
                case .emptyPost: try Request.to(plain, method: .post)
                case .form, .named: try Request.to(plain, method: .post, body: .text("a=b"))
                case .put: try Request.to(plain, method: .put, body: .text("longer than the other"))
                case .large:
                    try Request.to(plain, method: .put, body: .bytes(Array(repeating: 65, count: 200_000)))
                case .customWithBody: try Request.to(plain, method: .delete, body: .text("gone"))
                case .custom: try Request.to(plain, method: #require(HTTPRequest.Method("PURGE")))
                case .userInfo:
                    try Request.to(plain.replacing("http://", with: "http://user:secret@"))
                }
            switch self {
            case .fields:
                try request.setField("X-Own", to: "1")
                try request.setField("Accept", to: "text/plain")
            case .emptyField: try request.setField("X-Own", to: "")
            case .named: try request.setField("Content-Type", to: "application/x-www-form-urlencoded")
            case .timeouts: request.timeouts = Timeouts(connect: .seconds(3), attempt: .seconds(50))
            default: break
            }
            return request
        }
    }

    /// The request as the server receives it.
    struct Seen: Equatable {
        let method: String
        let target: String
        let fields: [String]
        let body: [UInt8]

        init(_ request: RawServer.Request) {
            method = request.method
            target = request.target
            fields = request.fields.map { "\($0.name): \($0.value)" }
            body = request.body
        }
    }

    @Test(arguments: Kind.allCases)
    func nothingIsLeftOf(_ first: Kind) async throws {
        let server = try RawServer { $0.method == "HEAD" ? [.send("HTTP/1.1 200 OK\r\n\r\n")] : [.respond()] }
        for second in Kind.allCases {
            let alone = try await withTransport { transport in
                try await seen(second, by: server, through: transport)
            }
            let after = try await withTransport { transport in
                _ = try await seen(first, by: server, through: transport)
                return try await seen(second, by: server, through: transport)
            }
            #expect(after == alone, "\(second) after \(first)")
        }
    }

    private func seen(_ kind: Kind, by server: RawServer, through transport: CurlTransport) async throws
        -> Seen
    {
        let log = try await Recording(transport.send(kind.request(on: server))).ended()
        #expect(log.error == nil, "\(kind)")
        return try await Seen(server.nextRequest())
    }

    /// A head that begins with a folded line has no field to continue (RFC 9112 §2.2). libcurl before 8.1 would
    /// continue the last field of the handle's previous response, which has been freed, so this runs in
    /// a separate process; `MALLOC_PERTURB_` shows the read.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n folded\r\n",
        "HTTP/1.1 200 OK\r\n\tfolded: " + String(repeating: "x", count: 50_000) + "\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n folded\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 Processing\r\n folded\r\n\r\nHTTP/1.1 200 OK\r\n",
    ])
    func aFoldedFirstLineDoesNotContinueTheLastResponse(head: String) async {
        await #expect(processExitsWith: .success) { [head] in
            let connection: [RawServer.Step] = [
                .readRequest, .respond(200, ["A": "1", "B": "2"], body: "well"), .readRequest,
                .send(head + "Content-Length: 3\r\n\r\nbad"), .close,
            ]
            let server = try RawServer(Array(repeating: connection, count: 20))
            try await withTransport { transport in
                for _ in 0..<20 {
                    #expect(try await transport.get(server.baseURL).text == "well")
                    let log = try await Recording(transport.send(.to(server.baseURL))).ended()
                    // RFC 9112 lets a recipient ignore the line, as newer versions do.
                    #expect(
                        log.error?.code == .invalidResponse
                            || log.head?.headerFields.map(\.name) == [.contentLength])
                }
            }
        }
    }

    /// Heads of which libcurl shows the first lines twice when a handle is used again.
    static let heads: [(head: String, fields: [String: String])] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", ["Content-Length": "4"]),
        (
            "HTTP/1.1 200 OK\r\nX-A: 1\r\n  and 2\r\nContent-Length: 4\r\n\r\n",
            ["X-A": "1 and 2", "Content-Length": "4"]
        ),
        ("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", ["Content-Length": "4"]),
        (
            "HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
            ["Content-Length": "4"]
        ),
        (
            "HTTP/1.1 200 OK\r\nX-Long: \(String(repeating: "x", count: 40_000)) y\r\nContent-Length: 4\r\n\r\n",
            ["X-Long": String(repeating: "x", count: 40_000) + " y", "Content-Length": "4"]
        ),
        ("HTTP/1.1 200 OK\r\n\r\n", [:]),
    ]

    @Test(arguments: heads.indices, [false, true])
    func theFirstLinesOfAHeadAreNoBody(index: Int, isSentInBytes: Bool) async throws {
        let (head, fields) = Self.heads[index]
        let isFieldless = fields.isEmpty
        let server = try RawServer { _ in
            let last: [RawServer.Step] = isFieldless ? [.close] : []
            guard isSentInBytes, head.utf8.count < 1000 else { return [.send(head + " two")] + last }
            return (head + " two").map { .send(String($0)) } + last
        }
        try await withTransport { transport in
            for _ in 0..<4 {
                let log = try await Recording(transport.send(.to(server.baseURL))).ended()
                #expect(log.error == nil)
                #expect(log.body == Array(" two".utf8))
                let names = Dictionary(
                    uniqueKeysWithValues: (log.head?.headerFields ?? [:]).map { ($0.name.rawName, $0.value) })
                #expect(names == fields)
            }
        }
    }
}
