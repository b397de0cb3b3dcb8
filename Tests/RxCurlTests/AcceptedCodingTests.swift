import HTTPTypes
import RxCurl
import RxHTTP
import TestServers
import Testing

@Suite(.timeLimit(.minutes(1))) struct AcceptedCodingTests {
    @Test(
        "What libcurl decodes is accepted, with and without content, unless the request says something else",
        arguments: [Body.empty, .text("content")], [nil, "identity", ""])
    func codings(body: Body, own: String?) async throws {
        let server = try RawServer { _ in [.respond()] }
        try await withTransport { transport in
            var request = try Request.to(server.baseURL, method: body.isEmpty ? .get : .put, body: body)
            if let own { try request.setField("Accept-Encoding", to: own) }
            // Twice, since the second finds a list of fields that is there already.
            for _ in 0..<2 {
                let log = try await Recording(transport.send(request)).ended()
                #expect(log.error == nil)
                let fields = try await server.nextRequest().fields
                let values = fields.filter { $0.name.lowercased() == "accept-encoding" }.map(\.value)
                #expect(values.count == 1)
                if let own {
                    #expect(values == [own])
                } else {
                    #expect(values.first?.contains("gzip") == true)
                }
            }
        }
    }
}
