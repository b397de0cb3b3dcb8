import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxTesting
import TestCookies
import Testing

@testable import RxCookies

/// The scope of cookies (RFC 6265 §5.1.3, §5.1.4, §5.3, §5.4; RFC 6265bis).
@Suite struct CookieRuleTests {
    /// The URL that set a line, and a URL with the field that a request to it then carries.
    struct Row: CustomTestStringConvertible {
        let line: String
        let from: String
        let to: String
        let field: String

        init(_ line: String, from: String, to: String, _ field: String = "") {
            (self.line, self.from, self.to, self.field) = (line, from, to, field)
        }

        var testDescription: String { "\(line) from \(from) to \(to)" }
    }

    static let domains = [
        Row("a=1", from: "http://a.test", to: "http://a.test", "a=1"),
        Row("a=1", from: "http://a.test", to: "http://A.TEST:8080/x?y", "a=1"),
        Row("a=1", from: "http://a.test", to: "http://x.a.test"),
        Row("a=1", from: "http://x.a.test", to: "http://a.test"),
        Row("a=1; Domain=a.test", from: "http://x.a.test", to: "http://a.test", "a=1"),
        Row("a=1; Domain=a.test", from: "http://a.test", to: "http://y.x.a.test", "a=1"),
        Row("a=1; Domain=.A.Test", from: "http://a.test", to: "http://y.a.test", "a=1"),
        Row("a=1; Domain=a.test", from: "http://a.test", to: "http://ba.test"),
        Row("a=1; Domain=a.test", from: "http://a.test", to: "http://a.test.b.test"),
        Row("a=1; Domain=", from: "http://a.test", to: "http://x.a.test"),
        // A public suffix may have cookies for itself.
        Row("a=1; Domain=hosts.test", from: "http://hosts.test", to: "http://hosts.test", "a=1"),
        Row("a=1; Domain=hosts.test", from: "http://hosts.test", to: "http://x.hosts.test"),
        Row("a=1; Domain=localhost", from: "http://localhost", to: "http://localhost:1", "a=1"),
        Row("a=1; Domain=x.hosts.test", from: "http://x.hosts.test", to: "http://y.x.hosts.test", "a=1"),
        Row(
            "a=1; Domain=city.kawasaki.test", from: "http://x.city.kawasaki.test",
            to: "http://city.kawasaki.test", "a=1"),
        // Addresses match only if they are equal.
        Row("a=1", from: "http://127.0.0.1", to: "http://127.0.0.1:81", "a=1"),
        Row("a=1; Domain=127.0.0.1", from: "http://127.0.0.1", to: "http://127.0.0.1", "a=1"),
        Row("a=1; Domain=127.0.0.1", from: "http://127.0.0.1", to: "http://x.127.0.0.1"),
        Row("a=1", from: "http://[::1]", to: "http://[::1]:81/", "a=1"),
        // One host in two spellings.
        Row("a=1", from: "http://bücher.test", to: "http://xn--bcher-kva.test", "a=1"),
        Row(
            "a=1; Domain=xn--bcher-kva.test", from: "http://www.bücher.test", to: "http://BÜCHER.test", "a=1"),
        Row("a=1; Domain=bücher.test", from: "http://xn--bcher-kva.test", to: "http://x.bücher.test", "a=1"),
        Row(
            "a=1; Domain=例え.テスト", from: "http://x.xn--r8jz45g.xn--zckzah",
            to: "http://xn--r8jz45g.xn--zckzah", "a=1"),
    ]

    static let paths = [
        Row("a=1", from: "http://a.test/x/y?z=/w/", to: "http://a.test/x", "a=1"),
        Row("a=1", from: "http://a.test/x/y", to: "http://a.test/x/z/", "a=1"),
        Row("a=1", from: "http://a.test/x/y", to: "http://a.test/"),
        Row("a=1", from: "http://a.test/x/y", to: "http://a.test/xy"),
        Row("a=1", from: "http://a.test/x/", to: "http://a.test/x", "a=1"),
        Row("a=1", from: "http://a.test/x", to: "http://a.test/y", "a=1"),
        Row("a=1", from: "http://a.test", to: "http://a.test", "a=1"),
        Row("a=1; Path=/x", from: "http://a.test", to: "http://a.test/x", "a=1"),
        Row("a=1; Path=/x", from: "http://a.test", to: "http://a.test/x/", "a=1"),
        Row("a=1; Path=/x", from: "http://a.test", to: "http://a.test/xx"),
        Row("a=1; Path=/x", from: "http://a.test", to: "http://a.test/X"),
        Row("a=1; Path=/x/", from: "http://a.test", to: "http://a.test/x"),
        Row("a=1; Path=/x/", from: "http://a.test", to: "http://a.test/x/y", "a=1"),
        Row("a=1; Path=x", from: "http://a.test/y/z", to: "http://a.test/y", "a=1"),
        Row("a=1; Path=/%41", from: "http://a.test", to: "http://a.test/%41", "a=1"),
        Row("a=1; Path=/%41", from: "http://a.test", to: "http://a.test/A"),
        Row("a=1; Path=/x", from: "http://a.test", to: "http://a.test/x/../y", "a=1"),
        Row("a=1; Path=/x", from: "http://a.test", to: "http://a.test//x"),
    ]

    static let secure = [
        Row("a=1; Secure", from: "https://a.test", to: "https://a.test", "a=1"),
        Row("a=1; Secure", from: "https://a.test", to: "http://a.test"),
        Row("a=1", from: "https://a.test", to: "http://a.test", "a=1"),
        Row("a=1", from: "http://a.test", to: "https://a.test", "a=1"),
        Row("a=1; HttpOnly; SameSite=Strict", from: "http://a.test", to: "http://a.test", "a=1"),
        Row(
            "__Secure-a=1; Secure; Domain=a.test", from: "https://a.test", to: "https://x.a.test",
            "__Secure-a=1"),
        Row("__Host-a=1; Secure; Path=/", from: "https://a.test/x/y", to: "https://a.test/z", "__Host-a=1"),
        Row("__Host=1", from: "http://a.test", to: "http://a.test", "__Host=1"),
    ]

    @Test(arguments: domains + paths + secure)
    func goesWhereItBelongs(row: Row) throws {
        let fixture = CookieFixture()
        try fixture.set(row.line, from: row.from)
        #expect(fixture.field(row.to) == row.field)
    }

    @Test(arguments: [
        ("a=1; Domain=b.test", "http://a.test", CookieRefusal.foreignDomain),
        ("a=1; Domain=x.a.test", "http://a.test", .foreignDomain),
        ("a=1; Domain=a", "http://aa", .foreignDomain),
        ("a=1; Domain=..a.test", "http://a.test", .foreignDomain),
        ("a=1; Domain=a.test.", "http://a.test", .foreignDomain),
        ("a=1; Domain=0.0.1", "http://127.0.0.1", .foreignDomain),
        ("a=1; Domain=1", "http://127.1", .foreignDomain),
        ("a=1; Domain=0x1", "http://127.0x1", .foreignDomain),
        ("a=1; Domain=a test", "http://a.test", .foreignDomain),
        ("a=1; Domain=test", "http://a.test", .publicSuffix),
        ("a=1; Domain=co.uk", "http://a.co.uk", .publicSuffix),
        ("a=1; Domain=co.uk.", "http://a.co.uk.", .publicSuffix),
        ("a=1; Domain=hosts.test", "http://x.hosts.test", .publicSuffix),
        ("a=1; Domain=x.kawasaki.test", "http://y.x.kawasaki.test", .publicSuffix),
        ("a=1; Secure", "http://a.test", .insecureOrigin),
        ("a=1; Secure", "http://localhost", .insecureOrigin),
        ("__Secure-a=1", "https://a.test", .brokenPrefix), ("__secure-a=1", "https://a.test", .brokenPrefix),
        ("__Secure-a=1", "http://a.test", .brokenPrefix),
        ("__Host-a=1; Secure", "https://a.test", .brokenPrefix),
        ("__Host-a=1; Path=/", "https://a.test", .brokenPrefix),
        ("__HOST-a=1; Secure; Path=/x", "https://a.test", .brokenPrefix),
        ("__Host-a=1; Secure; Path=/; Domain=a.test", "https://a.test", .brokenPrefix),
        ("__Host-a=1; Secure; Path=/; Domain=localhost", "https://localhost", .brokenPrefix),
        ("=__Host-a=1; Secure; Path=/", "https://a.test", .brokenPrefix),
        ("__Secure-a; Secure", "https://a.test", .brokenPrefix),
        ("__Secure-\u{301}a=1", "https://a.test", .brokenPrefix),
        ("__Host-\u{301}a=1; Secure", "https://a.test", .brokenPrefix),
        ("a=1", "ftp://a.test", .invalidURL), ("a=1", "/a", .invalidURL),
    ])
    func refuses(line: String, url: String, reason: CookieRefusal) {
        let fixture = CookieFixture()
        #expect(throws: reason) { try fixture.set(line, from: url) }
        #expect(fixture.jar.cookies.isEmpty)
    }

    /// Without a list a cookie is returned to its host only.
    @Test func unknownSuffixes() throws {
        let fixture = CookieFixture(suffixes: .unknown)
        try fixture.set("a=1; Domain=co.uk", from: "http://x.co.uk")
        try fixture.set("b=1; Domain=x.co.uk", from: "http://x.co.uk")
        #expect(fixture.field("http://x.co.uk") == "a=1; b=1")
        #expect(fixture.field("http://y.co.uk").isEmpty)
        #expect(fixture.field("http://y.x.co.uk").isEmpty)
        #expect(throws: CookieRefusal.foreignDomain) {
            try fixture.set("a=1; Domain=y.co.uk", from: "http://x.co.uk")
        }
    }

    @Test(arguments: [
        ("a=2; Path=/in", "http://a.test", true), ("a=2", "http://a.test/in/", true),
        ("a=2; Domain=a.test", "http://x.a.test/in/", true),
        ("a=2; Path=/in/side", "http://a.test", true),
        ("a=2; Domain=y.x.a.test; Path=/in", "http://y.x.a.test", true),
        ("a=2; Path=/", "http://a.test", false), ("a=2; Path=/inn", "http://a.test", false),
        ("b=2; Path=/in", "http://a.test", false), ("a=2; Path=/in", "http://b.test", false),
        ("a=2; Path=/in", "https://a.test", false),
    ])
    func secureCookiesAreNotHidden(line: String, url: String, isRefused: Bool) throws {
        let fixture = CookieFixture()
        try fixture.set("a=1; Secure; Path=/in; Domain=a.test", from: "https://a.test")
        if isRefused {
            #expect(throws: CookieRefusal.overwritesSecure) { try fixture.set(line, from: url) }
            #expect(fixture.field("https://a.test/in/side") == "a=1")
        } else {
            try fixture.set(line, from: url)
        }
    }

    /// Longer paths first, then older cookies; a new value keeps the age.
    @Test func order() throws {
        let fixture = CookieFixture()
        for line in ["a=1; Path=/", "b=1; Path=/x", "c=1; Path=/", "d=1; Path=/x/y", "e=1; Path=/x"] {
            try fixture.set(line, from: "http://a.test")
        }
        try fixture.set("p=1; Path=/; Domain=a.test", from: "http://a.test")
        try fixture.wait(.seconds(1))
        try fixture.set("a=2; Path=/", from: "http://a.test")
        #expect(fixture.field("http://a.test/x/y") == "d=1; b=1; e=1; a=2; c=1; p=1")
        #expect(fixture.jar.cookies.map(\.name) == ["a", "b", "c", "d", "e", "p"])
    }

    /// A cookie is identified by name, domain, host-only and path.
    @Test func identity() throws {
        let fixture = CookieFixture()
        for line in ["a=1", "a=2; Domain=a.test", "a=3; Path=/x", "A=4", "a=5"] {
            try fixture.set(line, from: "http://a.test")
        }
        #expect(fixture.field("http://a.test/x") == "a=3; a=5; a=2; A=4")
        try fixture.set("a=; Max-Age=0", from: "http://a.test")
        #expect(fixture.field("http://a.test/x") == "a=3; a=2; A=4")
        #expect(fixture.events.suffix(2) == ["+ a=5", "- a"])
    }

    @Test func expires() throws {
        let fixture = CookieFixture()
        try fixture.set("a=1; Max-Age=10", from: "http://a.test")
        try fixture.set("b=1; Expires=Thu, 01 Jan 1970 00:00:20 GMT", from: "http://a.test")
        try fixture.set("c=1", from: "http://a.test")
        try fixture.set("d=1; Max-Age=-5", from: "http://a.test")
        try fixture.wait(.seconds(9))
        #expect(fixture.field("http://a.test") == "a=1; b=1; c=1")
        try fixture.wait(.seconds(1))
        #expect(fixture.field("http://a.test") == "b=1; c=1")
        try fixture.wait(.seconds(10))
        #expect(fixture.jar.cookies.map(\.name) == ["c"])
    }

    /// RFC 6265 §3.1.
    @Test func theExamplesOfTheStandard() throws {
        let fixture = CookieFixture()
        let from = "https://www.example.com/"
        try fixture.set("SID=31d4d96e407aad42", from: from)
        #expect(fixture.field(from) == "SID=31d4d96e407aad42")
        try fixture.set("SID=31d4d96e407aad42; Path=/; Domain=example.com", from: from)
        #expect(fixture.field("https://example.com/") == "SID=31d4d96e407aad42")
        fixture.jar.removeAll()
        try fixture.set("SID=31d4d96e407aad42; Path=/; Secure; HttpOnly", from: from)
        try fixture.set("lang=en-US; Path=/; Domain=example.com", from: from)
        #expect(fixture.field(from) == "SID=31d4d96e407aad42; lang=en-US")
        try fixture.set("lang=en-US; Expires=Wed, 09 Jun 2021 10:18:14 GMT", from: from)
        try fixture.set("lang=; Path=/; Domain=example.com; Max-Age=0", from: from)
        #expect(fixture.field("http://www.example.com/") == "lang=en-US")
    }

    /// Of one domain, cookies without Secure are evicted first, and the least recently used.
    @Test func domainLimit() throws {
        let fixture = CookieFixture(limits: CookieLimits(perDomain: 3))
        for name in ["s", "a", "b"] {
            let secure = name == "s" ? "; Secure" : ""
            try fixture.set("\(name)=1\(secure)", from: "https://a.test/\(name)/")
            try fixture.wait(.seconds(1))
        }
        try fixture.set("other=1", from: "http://b.test")
        var request = try Request(url: #require(URL(string: "http://a.test/a/")))
        request = fixture.jar.adding(to: request).0
        #expect(request.headerFields[.cookie] == "a=1")
        try fixture.wait(.seconds(1))
        try fixture.set("c=1", from: "https://a.test")
        #expect(fixture.jar.cookies.map(\.name) == ["s", "a", "other", "c"])
        try fixture.wait(.seconds(1))
        try fixture.set("d=1; Secure", from: "https://a.test")
        try fixture.wait(.seconds(1))
        try fixture.set("e=1; Secure", from: "https://a.test")
        #expect(fixture.jar.cookies.map(\.name) == ["s", "other", "d", "e"])
        try fixture.set("f=1", from: "https://a.test")
        #expect(fixture.jar.cookies.map(\.name) == ["s", "other", "d", "e"])
        #expect(fixture.events.suffix(2) == ["+ f=1", "- f"])
    }

    @Test func totalLimit() throws {
        let fixture = CookieFixture(limits: CookieLimits(perDomain: 10, total: 20))
        for number in 0..<100 {
            try fixture.set("n\(number)=1", from: "http://host\(number % 7).test")
            try fixture.wait(.seconds(1))
        }
        #expect(fixture.jar.cookies.map(\.name) == (80..<100).map { "n\($0)" })
        let expired = CookieFixture(limits: CookieLimits(total: 2))
        try expired.set("a=1", from: "http://a.test")
        try expired.set("b=1; Max-Age=5", from: "http://b.test")
        try expired.wait(.seconds(6))
        try expired.set("c=1", from: "http://c.test")
        #expect(expired.jar.cookies.map(\.name) == ["a", "c"])
    }

    @Test func printsNoValue() throws {
        let fixture = CookieFixture()
        try fixture.set(
            "a=hush; Domain=a.test; Path=/x; Secure; HttpOnly; SameSite=Lax", from: "https://a.test")
        let cookie = try #require(fixture.jar.cookies.first)
        #expect("\(cookie)" == "a=…; *.a.test/x; Secure; HttpOnly; SameSite=lax")
        var dumped = ""
        dump(cookie, to: &dumped)
        #expect(!(dumped + String(reflecting: cookie)).contains("hush"))
    }
}
