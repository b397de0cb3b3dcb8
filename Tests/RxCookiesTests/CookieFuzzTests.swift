import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxTesting
import TestCookies
import Testing

@testable import RxCookies

/// For any input from servers and files, nothing traps, and stored cookies conform to the rules.
@Suite struct CookieFuzzTests {
    private static let lines = [
        "a=b", "SID=31d4d96e407aad42; Path=/; Domain=example.test; Secure; HttpOnly; SameSite=Lax",
        "__Host-a=1; Secure; Path=/", "lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Max-Age=-1",
        "x=\"y z\"; Domain=.bücher.test; Max-Age=99999999999999999999; Path=/%41/b", "; =;=;;",
        "ä=ö; Domain=..",
    ]
    private static let urls = [
        "https://www.example.test/x/y", "http://127.0.0.1:80/", "http://[::1]/", "https://bücher.test//",
        "http://localhost", "https://a.b.c.d.example.test./?/",
    ]

    @Test(arguments: 0..<20)
    func setCookieLines(seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        let fixture = CookieFixture(limits: CookieLimits(perDomain: 20, total: 50))
        let alphabet = Array("=;, \t\0\r\n\u{7F}._-/%\"09aZäß中".utf8) + [0x80, 0xC3, 0xFF]
        for _ in 0..<500 {
            let line = Array((Self.lines.randomElement(using: &random) ?? "").utf8)
            let bytes = line.mutated(by: &random, alphabet: alphabet)
            let url = try #require(URL(string: Self.urls.randomElement(using: &random) ?? ""))
            let request = Request(url: url)
            let head = ResponseHead(status: .ok, fieldLines: Array("Set-Cookie: ".utf8) + bytes + [13, 10])
            fixture.jar.store(head, for: request, epoch: 0)
            let sent = fixture.jar.adding(to: request).0.headerFields[.cookie] ?? ""
            #expect(sent.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        }
        let cookies = fixture.jar.cookies
        #expect(!cookies.isEmpty && cookies.count <= 50)
        for cookie in cookies {
            #expect(!cookie.domain.isEmpty && cookie.path.hasPrefix("/"))
            #expect(!(cookie.name + cookie.value).utf8.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x3B })
            #expect(!cookie.name.contains("="))
            #expect(cookie.isHostOnly || !CookieFixture.suffixes.contains!(cookie.domain))
        }
        // Stored cookies can be dumped and are valid when read again.
        let copy = CookieFixture(limits: CookieLimits(perDomain: 20, total: 50))
        try copy.jar.restore(from: fixture.jar.dump())
        #expect(copy.jar.cookies == cookies)
    }

    @Test(arguments: 0..<20)
    func dates(seed: Int) {
        var random = SeededRandom(UInt64(seed))
        let alphabet = Array("0123456789: -,;/JanFebDecGMT\0é".utf8)
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "1:2:3 4 dec 99"] {
            for _ in 0..<500 {
                let bytes = Array(text.utf8).mutated(by: &random, alphabet: alphabet)
                guard let date = Date(cookieDate: String(decoding: bytes, as: UTF8.self)) else { continue }
                #expect((-11_644_473_600...253_402_300_799).contains(date.timeIntervalSince1970))
            }
        }
    }

    @Test(arguments: 0..<20)
    func savedJars(seed: Int) throws {
        var random = SeededRandom(UInt64(seed))
        let fixture = CookieFixture()
        for (line, url) in zip(Self.lines, Self.urls + Self.urls) { try? fixture.set(line, from: url) }
        let saved = try fixture.jar.dump()
        var survived = 0
        for _ in 0..<100 {
            let copy = CookieFixture()
            do throws(NetworkError) {
                try copy.jar.restore(
                    from: saved.mutated(by: &random, alphabet: Array("{}[]\",:01e.-\\an".utf8)))
                survived += 1
            } catch {
                #expect(error.code == .file)
                #expect(copy.jar.cookies.isEmpty)
            }
            for url in Self.urls {
                let field = copy.field(url)
                #expect(!field.utf8.contains { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F })
            }
        }
        #expect(survived < 100)
    }

    /// Each of its domains would be a string of up to that size.
    /// A host of a quarter of a megabyte, as a redirect may name it, has no cookies.
    @Test func endlessHost() throws {
        let fixture = CookieFixture()
        try fixture.set("a=1", from: "https://a.test/")
        let url = "https://" + String(repeating: "a.", count: 128 << 10) + "test/"
        #expect(fixture.field(url) == "")
        #expect(throws: CookieRefusal.invalidURL) { try fixture.set("b=1", from: url) }
    }
}
