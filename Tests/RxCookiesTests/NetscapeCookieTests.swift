import FoundationEssentials
import RxCookies
import RxHTTP
import RxTesting
import TestCookies
import Testing

/// Cookies in the file format of curl and wget, and cookies made by hand.
@Suite struct NetscapeCookieTests {
    private let fixture = CookieFixture()

    /// Curl's output is read, and invalid cookies are skipped.
    @Test func reads() {
        let file = """
            # Netscape HTTP Cookie File
            # https://curl.se/docs/http-cookies.html

            a.test\tFALSE\t/\tFALSE\t0\tsession\t1
            .b.test\tTRUE\t/x\tTRUE\t4000\tlasting\t2\r
            #HttpOnly_a.test\tFALSE\t/\tFALSE\t4000\thidden\ta b=c
            a.test\tFALSE\t/\tFALSE\t4000\t\tnameless
            a.test\tFALSE\t/\tFALSE\t4000\tempty\t
            a.test\tFALSE\t/\tFALSE\t-5\texpired\t1
            com\tTRUE\t/\tFALSE\t4000\tsuffix\t1
            a.test\tFALSE\tx\tFALSE\t4000\tpath\t1
            a.test\tFALSE\t/\tFALSE\tnever\tend\t1
            a.test\tFALSE\t/\tFALSE\t4000\tfew
            a.test FALSE / FALSE 4000 spaces 1
            """
        let taken = fixture.jar.restore(fromNetscape: file)
        #expect(taken.map(\.name) == ["session", "lasting", "hidden", "", "empty"])
        #expect(taken.map(\.isSession) == [true, false, false, false, false])
        #expect(taken.map(\.isHTTPOnly) == [false, false, true, false, false])
        #expect(fixture.field("https://sub.b.test/x/y") == "lasting=2")
        #expect(fixture.field("http://b.test/x") == "")
        #expect(fixture.field("http://sub.a.test/") == "")
        #expect(fixture.field("http://a.test/") == "session=1; hidden=a b=c; nameless; empty=")
        #expect(taken[1].expires == Date(timeIntervalSince1970: 4000))
    }

    /// Written cookies are read again.
    @Test(arguments: [true, false])
    func roundTrip(hasSessionCookies: Bool) throws {
        try fixture.set("a=1; Max-Age=100; Path=/x; Domain=a.test; Secure; HttpOnly", from: "https://a.test/")
        try fixture.set("b=\"ü =2\"", from: "https://a.test/")
        try fixture.set("bare", from: "http://c.test/")
        let file = fixture.jar.netscapeFile(includingSessionCookies: hasSessionCookies)
        #expect(file.hasPrefix("# Netscape HTTP Cookie File\n#HttpOnly_.a.test\tTRUE\t/x\tTRUE\t100\ta\t1\n"))
        let other = CookieFixture()
        other.jar.restore(fromNetscape: file)
        let expected = fixture.jar.cookies.filter { hasSessionCookies || !$0.isSession }
        #expect(
            other.jar.netscapeFile() == fixture.jar.netscapeFile(includingSessionCookies: hasSessionCookies))
        #expect(other.jar.cookies.count == expected.count)
        #expect(other.jar.cookies.map(\.value) == expected.map(\.value))
    }

    /// No cookie lives longer than the jar allows.
    @Test func lifetime() {
        let taken = fixture.jar.restore(fromNetscape: "a.test\tFALSE\t/\tFALSE\t99999999999\ta\t1\n")
        #expect(taken.map(\.expires) == [Date(timeIntervalSince1970: 400 * 86400)])
    }

    /// A cookie made by hand is like any other.
    @Test func byHand() throws {
        let cookie = Cookie(name: "theme", value: "dark", domain: ".Shop.Test", isHostOnly: false, path: "/x")
        #expect(cookie.domain == "shop.test")
        try fixture.jar.set(cookie)
        #expect(fixture.field("http://sub.shop.test/x") == "theme=dark")
        #expect(fixture.field("http://sub.shop.test/y") == "")
        try fixture.jar.set(
            Cookie(
                name: "theme", value: "", domain: "shop.test", isHostOnly: false, path: "/x",
                expires: .distantPast))
        #expect(fixture.jar.cookies.isEmpty)
        #expect(fixture.events == ["+ theme=dark", "- theme"])
    }

    /// A cookie that no server could have set is refused.
    @Test(arguments: [
        Cookie(name: "a", value: "1\n", domain: "a.test"),
        Cookie(name: "a;b", value: "1", domain: "a.test"),
        Cookie(name: "a", value: "1", domain: ""),
        Cookie(name: "a", value: "1", domain: "co.uk", isHostOnly: false),
        Cookie(name: "a", value: "1", domain: "127.0.0.1", isHostOnly: false),
        Cookie(name: "a", value: "1", domain: "a.test", path: "x"),
        Cookie(name: "__Host-a", value: "1", domain: "a.test"),
    ])
    func unsound(_ cookie: Cookie) {
        #expect(throws: CookieRefusal.unsound) { try fixture.jar.set(cookie) }
        #expect(fixture.jar.cookies.isEmpty)
    }

    /// Mutated files never trap.
    @Test(arguments: 1...4)
    func mutations(seed: UInt64) {
        var random = SeededRandom(seed)
        let line = Array("#HttpOnly_.a.test\tTRUE\t/x\tTRUE\t1e3\ta\tb\n".utf8)
        for _ in 0..<1000 {
            let jar = CookieFixture().jar
            jar.restore(fromNetscape: String(decoding: line.mutated(by: &random), as: UTF8.self))
            _ = jar.netscapeFile()
        }
    }
}
