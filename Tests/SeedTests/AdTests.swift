import RxNetworking
import TestServers
import Testing

/// An app that sends models, in the URL, in the body or in a form, in one or two lines a request (`MJHttpClient`).
@Suite(.timeLimit(.minutes(1))) struct AdTests {
    private struct AdQuery: Encodable, Sendable {
        let type: String
    }

    private struct Ad: Decodable, Equatable, Sendable {
        let title: String
    }

    private func server() throws -> RawServer {
        try RawServer { request in
            switch request.target {
            case "/version": [.respond(200, ["Content-Type": "text/plain"], body: "7")]
            case "/broken": [.respond(500, ["Content-Type": "application/json"], body: #"{"message":"维护中"}"#)]
            default: [.respond(200, ["Content-Type": "application/json"], body: #"[{"title":"tea"}]"#)]
            }
        }
    }

    /// A model becomes the query of a GET; a list of models the body of a POST.
    @Test func models() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        let ads = try await client.get("/ads", query: AdQuery(type: "banner")).decode([Ad].self).value()
        #expect(ads == [Ad(title: "tea")])
        _ = try await client.post("/ads", .json([AdQuery(type: "banner"), AdQuery(type: "popup")])).value()
        let requests = server.record.requests
        #expect(requests.map(\.target) == ["/ads?type=banner", "/ads"])
        #expect(requests.last?.text == #"[{"type":"banner"},{"type":"popup"}]"#)
    }

    /// PUT and DELETE, and an image in a form.
    @Test func methods() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        _ = try await client.put("/ads/7", .json(AdQuery(type: "popup"))).value()
        _ = try await client.delete("/ads/7").value()
        let image = Parameters.multipart([
            .bytes("file", [1, 2, 3], fileName: "boris.png", contentType: "image/png")
        ])
        _ = try await client.post("/images", image).value()
        let requests = server.record.requests
        #expect(requests.map(\.method) == ["PUT", "DELETE", "POST"])
        #expect(requests.last?.text.contains(#"filename="boris.png""#) == true)
    }

    /// A response need not be JSON, and a failure has a code and a text.
    @Test func plainTextAndFailure() async throws {
        let server = try server()
        let client = Client(baseURL: server.baseURL)
        #expect(try await client.get("/version").value().text == "7")
        let error = await #expect(throws: NetworkError.self) {
            try await client.get("/broken", options: RequestOptions(retry: .never)).value()
        }
        #expect(error?.status == .internalServerError)
        #expect(error?.message == "维护中")
    }
}
