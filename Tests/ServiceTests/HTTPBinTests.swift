import Foundation
import RxNetworking
import TestServers
import Testing

/// httpbin under gunicorn, whose log has a line for each request.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct HTTPBinTests {
    /// The number of log lines that contain `text`, once all requests of `client` are in the log.
    private func count(of text: String, in httpbin: Service, after client: Client) async throws -> Int {
        _ = try await client.head("/anything/last").value()
        try await httpbin.line { $0.contains("/anything/last") ? () : nil }
        return httpbin.count(of: text)
    }

    /// A stored response is revalidated by its validators.
    @Test(arguments: ["/cache", "/etag/tea"])
    func confirmed(path: String) async throws {
        let httpbin = try await Service.httpbin()
        var configuration = ClientConfiguration()
        configuration.options.cachePolicy = .http
        let client = Client(baseURL: httpbin.baseURL, configuration: configuration)
        let first = try await client.get(path).value()
        let second = try await client.get(path).value()
        #expect(first.body == second.body)
        #expect(configuration.cache.statistics.revalidated == 1)
        #expect(try await count(of: "\"GET \(path) HTTP/1.1\" 304", in: httpbin, after: client) == 1)
        #expect(httpbin.count(of: "\"GET \(path) HTTP/1.1\" 200") == 1)
    }

    /// Digest costs one challenge for any number of requests.
    @Test(arguments: ["MD5", "SHA-256"])
    func digest(algorithm: String) async throws {
        let httpbin = try await Service.httpbin()
        var configuration = ClientConfiguration()
        configuration.authentication = .digest(user: "anna", password: "secret")
        let client = Client(baseURL: httpbin.baseURL, configuration: configuration)
        for _ in 1...5 {
            let response = try await client.get("/digest-auth/auth/anna/secret/\(algorithm)").value()
            #expect(response.status == .ok)
        }
        #expect(try await count(of: "HTTP/1.1\" 401", in: httpbin, after: client) == 1)
    }

    /// A range is a part of the content.
    @Test func range() async throws {
        let httpbin = try await Service.httpbin()
        let client = Client(baseURL: httpbin.baseURL)
        let part = try await client.get("/range/1024", headers: ["Range": "bytes=26-51"]).value()
        #expect(part.status == .partialContent)
        #expect(part.text == "abcdefghijklmnopqrstuvwxyz")
    }

    /// A slow body arrives piece by piece.
    @Test func drip() async throws {
        let httpbin = try await Service.httpbin()
        let pieces = try await Client(baseURL: httpbin.baseURL)
            .stream(InlineEndpoint(.get, "/drip", query: ["duration": "0.5", "numbytes": "10"])).chunks()
            .collect().value()
        #expect(pieces.flatMap { $0 } == Array(repeating: UInt8(ascii: "*"), count: 10))
        #expect(pieces.count > 1)
    }

    /// Compressed bodies are decoded.
    @Test(arguments: ["gzip", "deflate", "brotli"])
    func codings(name: String) async throws {
        struct Echo: Decodable, Sendable { let method: String }
        let httpbin = try await Service.httpbin()
        let echo = try await Client(baseURL: httpbin.baseURL).get("/\(name)").decode(Echo.self).value()
        #expect(echo.method == "GET")
    }

    /// Redirects are followed.
    @Test(arguments: ["redirect", "relative-redirect", "absolute-redirect"])
    func redirects(name: String) async throws {
        let httpbin = try await Service.httpbin()
        let client = Client(baseURL: httpbin.baseURL)
        #expect(try await client.get("/\(name)/10").value().url.path == "/get")
        await #expect(throws: NetworkError.self) { try await client.get("/\(name)/11").value() }

        struct Echo: Decodable, Sendable { let json: [String: Int] }
        let posted = try await client.post(
            "/redirect-to", .json(["count": 3]), query: ["url": "/post", "status_code": "307"]
        ).decode(Echo.self).value()
        #expect(posted.json == ["count": 3])
    }

    /// Cookies outlive the process.
    @Test func cookies() async throws {
        struct Line: Decodable {
            let status: Int
            let bodyBase64: Data
        }
        struct Cookies: Decodable, Equatable { let cookies: [String: String] }
        let (httpbin, folder) = (try await Service.httpbin(), try TemporaryFolder())
        func fetch(_ path: String) async throws -> Cookies {
            let driver = try ChildProcess(
                ChildProcess.product("conformance-driver"), ["--cookie-file", folder.file("cookies.json")])
            try driver.write(#"{"op":"fetch","id":1,"url":"\#(httpbin.baseURL)\#(path)"}"# + "\n")
            driver.closeInput()
            let record = try await driver.ended()
            #expect(record.ending == .exited(0))
            let line = try JSONDecoder().decode(Line.self, from: Data(record.output))
            #expect(line.status == 200)
            return try JSONDecoder().decode(Cookies.self, from: line.bodyBase64)
        }
        #expect(try await fetch("/cookies") == Cookies(cookies: [:]))
        _ = try await fetch("/cookies/set?flavour=oat")
        #expect(try await fetch("/cookies") == Cookies(cookies: ["flavour": "oat"]))
    }
}
