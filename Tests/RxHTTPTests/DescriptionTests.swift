import FoundationEssentials
import HTTPTypes
import RxHTTP
import Testing

/// Descriptions of requests and responses.
@Suite struct DescriptionTests {
    private func request(_ url: String = "https://user:secret@a.test/x?token=secret#secret") throws -> Request
    {
        var request = Request(
            method: .post, url: try #require(URL(string: url)),
            headerFields: [
                .authorization: "Bearer secret", .cookie: "c=secret", .proxyAuthorization: "Basic secret",
                .accept: "text/plain",
            ], body: .text("password=secret"))
        let key = try #require(HTTPField.Name("X-Key"))
        request.headerFields[key] = "secret"
        request.secretFields = [key]
        request.attempt = 2
        return request
    }

    /// Method, URL, id, attempt, fields without the secret values, size of the body.
    @Test func text() throws {
        let request = try request()
        let shown = """
            POST https://a.test/x \(request.id) (attempt 2), Authorization: …, Cookie: …, \
            Proxy-Authorization: …, Accept: text/plain, X-Key: …, 15 bytes
            """
        #expect("\(request)" == shown)
        #expect(String(reflecting: request) == shown)
        var bare = Request(url: try #require(URL(string: "https://a.test/")))
        bare.headerFields = [:]
        #expect("\(bare)" == "GET https://a.test/ \(bare.id), 0 bytes")
    }

    /// No printed form contains a secret, alone or inside another value.
    @Test func noSecret() throws {
        let request = try request()
        let response = Response(
            head: ResponseHead(status: .ok, headerFields: [.setCookie: "secret"]), body: Array("secret".utf8),
            request: request)
        #expect("\(response)" == "200 https://a.test/x \(request.id), 6 bytes")
        #expect(String(reflecting: response) == "\(response)")
        let events: [TransferEvent] = [
            .redirected(request, by: ResponseHead(status: .found, headerFields: [.setCookie: "secret"]))
        ]
        for value in [request, [request], ["a": request], response, [response], events] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(text.contains("a.test"))
                #expect(!text.contains("secret"))
            }
        }
    }
}
