import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

@Suite(.timeLimit(.minutes(1))) struct AcceptedCodingTests {
    /// The codings of the libraries that are built in, and no others.
    private static let built: String = {
        var codings = ["gzip", "deflate"]
        #if Brotli
        codings.append("br")
        #endif
        #if Zstd
        codings.append("zstd")
        #endif
        return codings.joined(separator: ", ")
    }()

    /// Decodable codings are accepted, with and without content, unless the request overrides it.
    @Test(arguments: [Body.empty, .text("content")], [nil, "identity", ""])
    func codings(body: Body, own: String?) async throws {
        let server = try RawServer { _ in [.respond()] }
        try await withTransport { transport in
            var request = try Request.to(server.baseURL, method: body.isEmpty ? .get : .put, body: body)
            if let own { try request.setField("Accept-Encoding", to: own) }
            // Twice, since the second request finds an existing list of fields.
            for _ in 0..<2 {
                let log = try await Recording(transport.send(request)).ended()
                #expect(log.error == nil)
                let fields = try await server.nextRequest().fields
                let values = fields.filter { $0.name.lowercased() == "accept-encoding" }.map(\.value)
                #expect(values.count == 1)
                if let own {
                    #expect(values == [own])
                } else {
                    #expect(values == [Self.built])
                }
            }
        }
    }

    /// RFC 9110 §14.2: ranges count coded bytes, a part of which cannot be decoded.
    @Test(arguments: [nil, "gzip"])
    func rangesGoWithIdentity(own: String?) async throws {
        let server = try RawServer { _ in [.respond()] }
        try await withTransport { transport in
            var request = try Request.to(server.baseURL)
            request.headerFields[.range] = "bytes=0-9"
            if let own { request.headerFields[.acceptEncoding] = own }
            #expect(try await Recording(transport.send(request)).ended().error == nil)
            let fields = try await server.nextRequest().fields
            let values = fields.filter { $0.name.lowercased() == "accept-encoding" }.map(\.value)
            #expect(values == ["identity"])
        }
    }

    @Test(arguments: [nil, "gzip", "identity"])
    func decodingCanBeSwitchedOff(own: String?) async throws {
        let bytes = Gzip.stored(Array("whole".utf8))
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bytes.count)\r\n\r\n"
        let server = try RawServer { _ in [.send(Array(head.utf8) + bytes)] }
        try await withTransport { transport in
            var request = try Request.to(server.baseURL)
            request.decodesContent = false
            if let own { request.headerFields[.acceptEncoding] = own }
            for isDecoded in [false, true, false] {
                request.decodesContent = isDecoded
                let response = try await transport.answer(to: request)
                #expect(response.body == (isDecoded ? Array("whole".utf8) : bytes))
                #expect(response.head[.contentEncoding] == "gzip")
                let received = try await server.nextRequest()
                #expect(received.field("Accept-Encoding") == own ?? (isDecoded ? Self.built : nil))
            }
        }
    }

    @Test func aPartIsNotDecoded() async throws {
        let server = try RawServer { _ in
            [.respond(206, ["Content-Encoding": "gzip", "Content-Range": "bytes 1-4/9"], body: "part")]
        }
        let text = try await withTransport { try await $0.get(server.baseURL).text }
        #expect(text == "part")
    }
}
