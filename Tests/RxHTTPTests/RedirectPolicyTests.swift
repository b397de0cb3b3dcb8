import FoundationEssentials
import HTTPTypes
import RxLite
import RxTesting
import Testing

@testable import RxHTTP

@Suite struct RedirectPolicyTests {
    private func request(
        _ method: String = "GET", _ url: String = "https://a.test/dir/page?q=1", body: Body = .empty
    ) throws -> Request {
        try Request(
            method: #require(HTTPRequest.Method(method)), url: #require(URL(string: url)),
            headerFields: [
                .authorization: "Bearer t", .cookie: "c=1", .proxyAuthorization: "p",
                .contentType: "text/plain", .accept: "*/*",
            ], body: body)
    }

    private func follow(
        _ request: Request, _ status: Int, _ location: String?, count: Int = 0,
        policy: RedirectPolicy = RedirectPolicy()
    ) throws(NetworkError) -> Request? {
        var fields = HTTPFields()
        fields[.location] = location
        let head = ResponseHead(status: HTTPResponse.Status(code: status), headerFields: fields)
        return try policy.redirect(request, to: head, count: count)
    }

    /// 301/302: POST → GET. 303: → GET, but GET and HEAD stay. 307/308: same method and body.
    @Test(arguments: [
        (301, "GET", "GET"), (301, "HEAD", "HEAD"), (301, "POST", "GET"), (301, "PUT", "PUT"),
        (301, "DELETE", "DELETE"), (301, "PATCH", "PATCH"),
        (302, "GET", "GET"), (302, "HEAD", "HEAD"), (302, "POST", "GET"), (302, "PUT", "PUT"),
        (302, "DELETE", "DELETE"), (302, "PATCH", "PATCH"),
        (303, "GET", "GET"), (303, "HEAD", "HEAD"), (303, "POST", "GET"), (303, "PUT", "GET"),
        (303, "DELETE", "GET"), (303, "PATCH", "GET"),
        (307, "GET", "GET"), (307, "HEAD", "HEAD"), (307, "POST", "POST"), (307, "PUT", "PUT"),
        (307, "DELETE", "DELETE"), (307, "PATCH", "PATCH"),
        (308, "GET", "GET"), (308, "HEAD", "HEAD"), (308, "POST", "POST"), (308, "PUT", "PUT"),
        (308, "DELETE", "DELETE"), (308, "PATCH", "PATCH"),
    ])
    func methods(status: Int, method: String, expected: String) throws {
        let sent = try request(method, body: .text("body"))
        let next = try #require(try follow(sent, status, "/next"))
        #expect(next.method.rawValue == expected)
        let keepsBody = expected == method
        #expect(next.body.count == (keepsBody ? 4 : 0))
        #expect((next.headerFields[.contentType] != nil) == keepsBody)
        #expect(next.url.absoluteString == "https://a.test/next")
        #expect(next.headerFields[.authorization] == "Bearer t")
        #expect(next.headerFields[.accept] == "*/*")
        #expect(next.id == sent.id)
    }

    /// A policy may keep POST on 301 and 302, and on no other status.
    @Test(arguments: [301, 302, 303, 307])
    func keptPost(status: Int) throws {
        let sent = try request("POST", body: .text("body"))
        let next = try #require(
            try follow(sent, status, "/next", policy: RedirectPolicy(keepsPost: true)))
        #expect(next.method == (status == 303 ? .get : .post))
        #expect(next.body.count == (status == 303 ? 0 : 4))
        #expect((next.headerFields[.contentType] != nil) == (status != 303))
        let once = try request(
            "POST", body: .stream(Observable<[UInt8], NetworkError>.just([1]), length: 1))
        let kept = try follow(once, status, "/next", policy: RedirectPolicy(keepsPost: true))
        #expect((kept == nil) == (status != 303))
    }

    /// A trusted origin gets the secrets; an origin after it does not, nor does http after https.
    @Test func trustedOrigin() throws {
        let url = try #require(URL(string: "https://b.test"))
        let trusted = try #require(Origin(url))
        let policy = RedirectPolicy(trustedOrigins: [trusted])
        let next = try #require(try follow(request(), 307, "https://b.test/x", policy: policy))
        #expect(next.headerFields[.authorization] == "Bearer t")
        #expect(next.headerFields[.cookie] == "c=1")
        #expect(!next.isCredentialFree)
        let last = try #require(try follow(next, 307, "https://c.test/x", policy: policy))
        #expect(last.headerFields[.authorization] == nil)
        #expect(last.isCredentialFree)
        #expect(throws: NetworkError.self) { try follow(request(), 307, "http://b.test/x", policy: policy) }
    }

    /// An empty Location counts as missing.
    @Test(arguments: ["Location:\r\n", "Location: \t\r\n"])
    func emptyLocation(line: String) throws {
        let head = ResponseHead(status: .found, fieldLines: Array(line.utf8))
        #expect(try RedirectPolicy().redirect(request(), to: head, count: 0) == nil)
    }

    /// The fragment is inherited, unless the target has one (RFC 9110 §10.2.2).
    @Test func fragment() throws {
        let sent = try request("GET", "https://a.test/x#a%20b")
        #expect(try follow(sent, 302, "/y")?.url.absoluteString == "https://a.test/y#a%20b")
        #expect(try follow(sent, 302, "/y#c")?.url.absoluteString == "https://a.test/y#c")
    }

    /// Returned or refused, with a target or without.
    @Test(arguments: [301, 302, 303, 307, 308])
    func notFollowed(status: Int) throws {
        #expect(try follow(request(), status, "/next", policy: .manual) == nil)
        for location in ["/next", nil] {
            let error = #expect(throws: NetworkError.self) {
                try follow(request(), status, location, policy: .refused)
            }
            #expect(error?.code == .invalidRedirect)
        }
        for other in [200, 300, 304, 404] {
            #expect(try follow(request(), other, "/next", policy: .refused) == nil)
        }
    }

    /// Other statuses, and any without Location, are ordinary responses.
    @Test(arguments: [200, 201, 300, 304, 305, 306, 400, 401, 404, 500])
    func noRedirect(status: Int) throws {
        #expect(try follow(request(), status, "https://b.test/") == nil)
        #expect(try follow(request(), status, "garbage:::") == nil)
        for status in [301, 302, 303, 307, 308] { #expect(try follow(request(), status, nil) == nil) }
    }

    /// A limit of 0 returns every redirect to the caller.
    @Test(arguments: [301, 302, 303, 307, 308])
    func limitZero(status: Int) throws {
        #expect(try follow(request(), status, "/x", policy: RedirectPolicy(limit: 0)) == nil)
        #expect(try follow(request(), status, "ftp://x", policy: RedirectPolicy(limit: -1)) == nil)
    }

    /// Targets are resolved against the request's URL (RFC 9110 §10.2.2).
    @Test(arguments: [
        ("/x", "https://a.test/x"), ("x", "https://a.test/dir/x"), ("../x", "https://a.test/x"),
        ("?q=2", "https://a.test/dir/page?q=2"), ("//b.test/x", "https://b.test/x"),
        ("HTTPS://B.test/x", "https://b.test/x"), ("https://a.test:8443/", "https://a.test:8443/"),
        ("/with space", "https://a.test/with%20space"), ("/grün", "https://a.test/gr%C3%BCn"),
        ("/a%2Fb%20c", "https://a.test/a%2Fb%20c"), ("  /x  ", "https://a.test/x"),
        ("https://b.test/a/./b/../../c", "https://b.test/c"), ("//b.test/a/..", "https://b.test/"),
        ("https://b.test/a/../../../c?x=/../y", "https://b.test/c?x=/../y"),
        ("/a%20b c%2Fd", "https://a.test/a%20b%20c%2Fd"), ("/a%zz%", "https://a.test/a%25zz%25"),
        ("/x?a[]=1|2&b=%C3%BC", "https://a.test/x?a%5B%5D=1%7C2&b=%C3%BC"),
        ("/\u{301}..\u{301}/x", "https://a.test/%CC%81..%CC%81/x"),
    ])
    func targets(location: String, url: String) throws {
        let next = try #require(try follow(request(), 302, location))
        #expect(next.url.absoluteString.lowercased() == url.lowercased())
    }

    /// A percent sign that stands alone is sent as it came.
    @Test(arguments: [
        (["/%"], "https://a.test/%", "https://a.test/%25"),
        (["/%zz?%=%41%4"], "https://a.test/%zz?%=%41%4", "https://a.test/%25zz?%25=%41%254"),
        (["/%/b c", "../%2x/./d"], "https://a.test/%2x/d", "https://a.test/%252x/d"),
        (["/%/b", "?x"], "https://a.test/%/b?x", "https://a.test/%25/b?x"),
        (["/%/b", "c#%"], "https://a.test/%/c#%25", "https://a.test/%25/c#%25"),
        (["/%/b", "/c"], "https://a.test/c", "https://a.test/c"),
    ])
    func lonePercents(locations: [String], sent: String, url: String) throws {
        var next = try request()
        for location in locations { next = try #require(try follow(next, 302, location)) }
        #expect(next.urlText == sent)
        #expect(next.url.absoluteString == url)
    }

    /// It stays where a secret is dropped, and where TLS is required.
    @Test func lonePercentsOfOthers() throws {
        var first = try request("GET", "http://a.test/")
        let url = try #require(URL(string: "http://a.test/?key=1"))
        try first.addSecrets { request throws(NetworkError) in request.url = url }
        let head = ResponseHead(status: .found, headerFields: [.location: "http://b.test:80/%?a=%20&key=1"])
        let next = try #require(
            try RedirectPolicy().redirect(first, to: head, count: 0) { _ in
                URL(string: "https://b.test/%25?a=%20&key=1")
            })
        #expect(next.urlText == "https://b.test/%?a=%20")
        #expect(next.url.absoluteString == "https://b.test/%25?a=%20")
    }

    /// Bytes that are not text stay the same bytes.
    @Test(
        arguments: [([0xE9], "%E9"), ([0xC3, 0xA9], "%C3%A9"), ([0x61, 0xFF, 0x2F, 0xFE], "a%FF/%FE")]
            as [([UInt8], String)])
    func bytes(location: [UInt8], path: String) throws {
        let lines = Array("Location: /".utf8) + location + [0x0D, 0x0A]
        let next = try RedirectPolicy().redirect(
            request(), to: ResponseHead(status: .found, fieldLines: lines), count: 0)
        #expect(next?.url.absoluteString == "https://a.test/\(path)")
    }

    /// Missing, invalid and foreign targets are refused.
    @Test(arguments: [
        "http://", "https://[::1", "ftp://a.test/", "file:///etc/passwd", "javascript:alert(1)",
        "data:text/plain,x", "https:", "http://a.test:99999999/", "mailto:a@b.test",
    ])
    func badTargets(location: String) throws {
        let sent = try request("GET", "http://a.test/")
        let error = #expect(throws: NetworkError.self) { _ = try follow(sent, 302, location) }
        #expect(error?.code == .invalidRedirect)
        #expect(error?.requestID == sent.id)
    }

    /// Two different targets count as no target.
    @Test func twoTargets() throws {
        func head(_ second: String) -> ResponseHead {
            ResponseHead(status: .found, headerFields: [.location: "/x", .location: second])
        }
        let policy = RedirectPolicy()
        #expect(try policy.redirect(request(), to: head("/x"), count: 0)?.url.path == "/x")
        let error = #expect(throws: NetworkError.self) {
            _ = try policy.redirect(request(), to: head("https://b.test/"), count: 0)
        }
        #expect(error?.code == .invalidRedirect)
    }

    /// Https → http: refused; http → https: followed.
    @Test func downgrade() throws {
        let error = #expect(throws: NetworkError.self) {
            _ = try follow(request(), 301, "http://a.test/dir/page")
        }
        #expect(error?.code == .invalidRedirect)
        #expect(try follow(request("GET", "http://a.test/"), 301, "https://a.test/") != nil)
        #expect(throws: NetworkError.self) {
            try follow(request("GET", "HTTPS://a.test/"), 301, "HTTP://a.test/")
        }
    }

    /// To another origin: drop Authorization, Cookie, Proxy-Authorization and every secret header.
    @Test(arguments: [
        ("https://b.test/", true), ("https://a.test:8443/", true), ("//evil.test/", true),
        ("https://a.test@evil.test/", true), ("/x", false), ("https://A.TEST:443/x", false),
    ])
    func secrets(location: String, isOther: Bool) throws {
        var sent = try request()
        let key = try #require(HTTPField.Name("X-Key"))
        sent.headerFields[key] = "secret"
        sent.secretFields = [key]
        sent.credentialVersion = CredentialVersion(accountNumber: 0, generation: 0)
        let next = try #require(try follow(sent, 307, location))
        for name in [.authorization, .cookie, .proxyAuthorization, key] as [HTTPField.Name] {
            #expect((next.headerFields[name] == nil) == isOther, "\(name)")
        }
        #expect(next.headerFields[.accept] == "*/*")
        #expect((next.credentialVersion == nil) == isOther)
        #expect(next.isCredentialFree == isOther)
        let back = try #require(try follow(next, 307, "https://a.test/"))
        #expect((back.headerFields[.authorization] == nil) == isOther, "a dropped field stays dropped")
    }

    /// At most 10 by default.
    @Test func limit() throws {
        #expect(try follow(request(), 302, "/x", count: 9) != nil)
        let error = #expect(throws: NetworkError.self) { _ = try follow(request(), 302, "/x", count: 10) }
        #expect(error?.code == .tooManyRedirects)
        #expect(try follow(request(), 302, "/x", count: 10, policy: RedirectPolicy(limit: 11)) != nil)
    }

    /// Mutated targets never trap, and only http URLs are followed.
    @Test(arguments: 1...4)
    func mutations(seed: UInt64) throws {
        var random = SeededRandom(seed)
        let sent = try request()
        let targets = ["https://user@a.test:81/x?y#z", "//[::1]:80/%20", "../../x y"].map { Array($0.utf8) }
        for _ in 0..<500 {
            let target = (targets.randomElement(using: &random) ?? []).mutated(by: &random)
            let head = ResponseHead(status: .found, fieldLines: Array("Location: ".utf8) + target)
            do throws(NetworkError) {
                let next = try RedirectPolicy().redirect(sent, to: head, count: 0)
                if let next { #expect(Origin(next.url)?.scheme == "https") }
            } catch {
                #expect(error.code == .invalidRedirect)
            }
        }
    }
}
