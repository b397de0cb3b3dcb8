import FoundationEssentials
import RxHTTP
import Testing

@testable import RxCookies

/// Parsing of a `Set-Cookie` line (RFC 6265 §5.2).
@Suite struct SetCookieTests {
    @Test(arguments: [
        ("a=b", "a", "b"), ("a=", "a", ""), ("=b", "", "b"), ("b", "", "b"), (" a \t=\t b ", "a", "b"),
        ("a=b=c", "a", "b=c"), ("a=\"b c\"", "a", "\"b c\""), ("a=b; Path=/", "a", "b"),
        ("a=b;;; ;=; =x", "a", "b"), ("a=b\t;Secure", "a", "b"), ("ä=ö", "ä", "ö"), ("a b=c d", "a b", "c d"),
        ("a=b,c", "a", "b,c"), ("==", "", "="), ("a;b=c", "", "a"),
    ])
    func readsNameAndValue(line: String, name: String, value: String) throws {
        let cookie = try SetCookie(line)
        #expect(cookie.name == name)
        #expect(cookie.value == value)
    }

    @Test(arguments: [
        ("", CookieRefusal.empty), ("=", .empty), (" = ; Path=/", .empty), (";", .empty),
        ("a=b\r\nX: y", .invalidCharacter), ("a=b\0", .invalidCharacter),
        ("a=b; Path=/\u{7F}", .invalidCharacter),
        ("a\u{1}=b", .invalidCharacter), ("a=b; Domain=x\u{1F}", .invalidCharacter),
        ("a=\u{FFFD}", .invalidCharacter),
    ])
    func refuses(line: String, reason: CookieRefusal) {
        #expect(throws: reason) { try SetCookie(line) }
    }

    @Test func sizesAreLimited() throws {
        let name = String(repeating: "n", count: 96)
        _ = try SetCookie(name + "=" + String(repeating: "v", count: 4000))
        #expect(throws: CookieRefusal.tooLarge) {
            try SetCookie(name + "=" + String(repeating: "v", count: 4001))
        }
        #expect(throws: CookieRefusal.tooLarge) { try SetCookie("a=" + String(repeating: "é", count: 2048)) }
        let path = "/" + String(repeating: "p", count: 1023)
        #expect(try SetCookie("a=b; Path=\(path)").path == path)
        #expect(try SetCookie("a=b; Path=/x; Path=\(path)p").path == "/x")
    }

    /// A field of any size takes linear time. The marks have another order in the form that `String` compares.
    @Test(.timeLimit(.minutes(1))) func large() throws {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        #expect(try SetCookie("a=b; \(marks); \(marks)=x; Path=/x").path == "/x")
    }

    @Test(
        arguments: [
            ("Path=/x", "/x"), ("path = /x/ ", "/x/"), ("PATH=x", nil), ("Path=", nil), ("Path", nil),
            ("Path=/x; Path=/y", "/y"), ("Path=/x; Path=", nil), ("Path=/a=b", "/a=b"),
        ] as [(String, String?)])
    func readsThePath(attribute: String, path: String?) throws {
        #expect(try SetCookie("a=b; \(attribute)").path == path)
    }

    @Test(
        arguments: [
            ("Domain=Example.COM", "example.com"), ("domain=.example.com", "example.com"),
            ("Domain=..example.com", ".example.com"), ("Domain=", nil), ("Domain=.", nil), ("Domain", nil),
            ("Domain=a.test; Domain=b.test", "b.test"), ("Domain=a.test; Domain=", nil),
            ("Domain=bücher.example", "xn--bcher-kva.example"),
            // One `Character` with the dot, which is no part of a label.
            ("Domain=a.\u{301}b.example", "a.xn--b-wbb.example"),
        ] as [(String, String?)])
    func readsTheDomain(attribute: String, domain: String?) throws {
        #expect(try SetCookie("a=b; \(attribute)").domain == domain)
    }

    @Test(
        arguments: [
            ("Max-Age=10", 10), ("max-age = 0", .distantPast), ("Max-Age=-1", .distantPast),
            ("Max-Age=99999999999999999999999999", 34_560_000),
            ("Max-Age=-99999999999999999999", .distantPast),
            ("Max-Age=1.5", nil), ("Max-Age=+5", nil), ("Max-Age=", nil), ("Max-Age=-", nil),
            ("Max-Age=--1", nil),
            ("Max-Age=5x", nil), ("Max-Age=٣", nil), ("Max-Age=5; Max-Age=x", 5), ("Max-Age=5; Max-Age=7", 7),
            ("Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 10),
            ("Expires=Thu, 01 Jan 1970 00:01:00 GMT; Max-Age=10", 10),
            ("Expires=Thu, 01 Jan 1970 00:01:00 GMT; Max-Age=x", 60), ("Expires=never", nil),
            ("Expires=Thu, 01 Jan 1970 00:01:00 GMT; Expires=never", 60),
            ("Expires=Fri, 31 Dec 9999 00:00:00 GMT", 34_560_000),
            ("Expires=Thu, 01 Jan 1970 00:01:00 GMT; Expires=Thu, 01 Jan 1970 00:02:00 GMT", 120),
        ] as [(String, Age?)])
    func readsTheEnd(attribute: String, age: Age?) throws {
        let now = Date(timeIntervalSince1970: 0)
        let expiry = try SetCookie("a=b; \(attribute)").expiry(now: now, limit: 400 * 86400)
        #expect(expiry == age?.date)
    }

    @Test(
        arguments: [
            ("", false, false, nil), ("Secure", true, false, nil), ("secure=no; HTTPONLY", true, true, nil),
            ("SameSite=Strict", false, false, .strict), ("samesite=LAX", false, false, .lax),
            ("SameSite=None; Secure", true, false, .unrestricted), ("SameSite=odd", false, false, nil),
            ("SameSite", false, false, nil), ("Partitioned; Priority=High", false, false, nil),
        ] as [(String, Bool, Bool, Cookie.SameSite?)])
    func readsTheFlags(
        attributes: String, isSecure: Bool, isHTTPOnly: Bool, sameSite: Cookie.SameSite?
    ) throws {
        let cookie = try SetCookie("a=b; \(attributes)")
        #expect(cookie.isSecure == isSecure)
        #expect(cookie.isHTTPOnly == isHTTPOnly)
        #expect(cookie.sameSite == sameSite)
    }

    /// Seconds after 1970, or a time long ago.
    struct Age: Sendable, ExpressibleByIntegerLiteral {
        let date: Date

        init(integerLiteral seconds: Int) { date = Date(timeIntervalSince1970: Double(seconds)) }

        private init(_ date: Date) { self.date = date }

        static let distantPast = Age(.distantPast)
    }
}
