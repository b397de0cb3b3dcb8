import Foundation
import RxNetworking
import TestServers
import Testing

/// A jar over real sockets, files and the system's list of public suffixes.
@Suite(.timeLimit(.minutes(1))) struct CookieTests {
    private func client(_ server: RawServer, _ jar: CookieJar) -> Client {
        var configuration = ClientConfiguration()
        configuration.cookies = jar
        return Client(baseURL: server.baseURL, configuration: configuration)
    }

    /// The system's list has wildcards, exceptions, private suffixes and names in Unicode.
    @Test(arguments: [
        ("com", true), ("co.uk", true), ("example.com", false), ("github.io", true),
        ("me.github.io", false),
        ("foo.ck", true), ("www.ck", false), ("kawasaki.jp", true), ("x.kawasaki.jp", true),
        ("city.kawasaki.jp", false), ("xn--55qx5d.cn", true), ("x.xn--55qx5d.cn", false),
        ("localhost", true),
        ("unheard-of", true), ("a.unheard-of", false),
    ])
    func systemList(domain: String, isPublicSuffix: Bool) throws {
        let jar = CookieJar()
        let url = try #require(URL(string: "https://host.\(domain)/"))
        if isPublicSuffix {
            #expect(throws: CookieRefusal.publicSuffix) { try jar.set("a=1; Domain=\(domain)", from: url) }
        } else {
            try jar.set("a=1; Domain=\(domain)", from: url)
            #expect(jar.cookies.first?.isHostOnly == false)
        }
    }

    /// All cookies go in one line, from any source.
    @Test func oneLine() async throws {
        let server = try RawServer { request in
            let set = "a=1\r\nSet-Cookie: b=2"
            return [.respond(200, request.target == "/set" ? ["Set-Cookie": set] : [:], body: "1")]
        }
        let client = client(server, CookieJar())
        for path in ["/set", "/x"] { _ = try await client.get(path, headers: ["Cookie": "c=3; d=4"]).value() }
        let lines = server.record.requests.map { request in
            request.fields.filter { $0.name.lowercased() == "cookie" }.map(\.value)
        }
        #expect(lines == [["c=3; d=4"], ["c=3; d=4; a=1; b=2"]])
    }

    /// Each hop of a redirect reads the jar and fills it; another host gets none of the first one's cookies.
    @Test func redirectsOverSockets() async throws {
        let server = try RawServer { request in
            let other = "http://localhost:" + (request.field("Host")?.split(separator: ":").last ?? "")
            switch request.target {
            case "/login": return [.respond(302, ["Set-Cookie": "a=1; Path=/", "Location": "/first"])]
            case "/first":
                return [
                    .respond(
                        303,
                        [
                            "Set-Cookie": "b=2", "set-cookie": "a=; Path=/; Max-Age=0",
                            "Location": other + "/second",
                        ])
                ]
            case "/second": return [.respond(307, ["Set-Cookie": "c=3", "Location": other + "/third"])]
            default: return [.respond(200, ["Set-Cookie": "d=4"])]
            }
        }
        let jar = CookieJar()
        let response = try await client(server, jar).get("/login").value()
        #expect(response.status == .ok)
        let sent = server.record.requests.map { "\($0.target) \($0.field("Cookie") ?? "-")" }
        #expect(sent == ["/login -", "/first a=1", "/second -", "/third c=3"])
        #expect(
            jar.cookies.map { "\($0.domain) \($0.name)" } == ["127.0.0.1 b", "localhost c", "localhost d"])
    }

    /// Saved with mode 0600, restored before the first request, removed by logging out.
    @Test func fileJar() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("jar.json")
        let server = try RawServer { _ in [.respond(200, ["Set-Cookie": "id=42; Max-Age=1000; Path=/"])] }
        let first = CookieJar(file: path)
        _ = try await client(server, first).get("/").value()
        try await first.flush().value()
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try folder.names == ["jar.json"])

        let second = CookieJar(file: path)
        _ = try await client(server, second).get("/").value()
        #expect(server.record.requests.map { $0.field("Cookie") } == [nil, "id=42"])
        second.removeAll()
        try await second.flush().value()
        let third = CookieJar(file: path)
        try await third.restore().value()
        #expect(third.cookies.isEmpty)

        _ = try folder.file("jar.json", Array("no jar".utf8))
        let broken = CookieJar(file: path)
        await #expect(throws: NetworkError.self) { try await broken.restore().value() }
        _ = try await client(server, broken).get("/").value()
        try await broken.flush().value()
        let healed = CookieJar(file: path)
        try await healed.restore().value()
        #expect(healed.cookies.map(\.name) == ["id"])
    }

    /// An unreadable file is an error and stays unchanged.
    @Test func unreadableFile() async throws {
        let folder = FileManager.default.temporaryDirectory.path
        let jar = CookieJar(file: folder)
        let server = try RawServer { _ in [.respond(200, ["Set-Cookie": "id=42; Max-Age=1000"])] }
        _ = try await client(server, jar).get("/").value()
        await #expect(throws: NetworkError.self) { try await jar.flush().value() }
        #expect(jar.cookies.count == 1)
    }
}
