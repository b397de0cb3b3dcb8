import FoundationEssentials
import HTTPTypes
import RxHTTP
import Testing

@Suite struct URLTextTests {
    /// Every ASCII character, alone and as a possible part of an escape, and other characters.
    private static let suffixes: [String] =
        (0..<128).flatMap { code in
            let character = String(Character(UnicodeScalar(UInt8(code))))
            return [character, "%" + character, "%4" + character, "%\(character)1", "a" + character + "b"]
        } + ["", "ä", "%C3%A4", "茶", "a/b/c", "//", "/?a=b&c=d", ":80", "@b", "a%", "a%4"]

    private static let bases = [
        "http://a.test", "https://a.test:8443/v1", "http://[::1]:80/x", "http://u:p@a.test",
    ]

    /// Appending without parsing gives the same as Foundation's parser.
    @Test(arguments: bases)
    func appending(base: String) throws {
        let text = try #require(URLText(base))
        var count = 0
        for suffix in Self.suffixes {
            for start in ["/", "/x?", "/x/"] {
                guard let longer = text.appending(start + suffix) else { continue }
                count += 1
                let read = try #require(URL(string: base + start + suffix))
                #expect(longer.url.absoluteString == base + start + suffix)
                #expect(longer.url == read)
                #expect(Origin(read) == Origin(text.url), "\(suffix) leads elsewhere")
            }
        }
        #expect(count > 500)
    }

    /// A text that does not begin a path cannot lead to another host.
    @Test(arguments: [":81", "@b.test", ".b.test", "?a", ""])
    func noPath(suffix: String) throws {
        #expect(try #require(URLText("http://a.test")).appending(suffix) == nil)
    }

    /// Texts with characters to escape, with fragments, or that are not URLs are left to the parser.
    @Test(arguments: [
        " ", "#", "ä", "%zz", "%4", "%", "\"", "<", "\\", "^", "`", "{", "|", "[", "]", "\n", "\0",
        "\u{7F}",
    ])
    func refused(suffix: String) throws {
        let text = try #require(URLText("http://a.test/v1"))
        #expect(text.appending("/x" + suffix) == nil)
        #expect(text.appendingQuery("a=" + suffix) == nil)
        #expect(URLText("http://a.test/x" + suffix + " ") == nil)
    }

    /// Not absolute URLs.
    @Test(arguments: ["", "/x", "a.test", "http:", "http:///x", "file:///x", "http://a b", "http://a#b"])
    func noURL(text: String) { #expect(URLText(text) == nil) }

    /// A query is appended to an existing one.
    @Test(arguments: [
        ("http://a.test/x", "http://a.test/x?a=1"), ("http://a.test/x?", "http://a.test/x?a=1"),
        ("http://a.test/x?b=2", "http://a.test/x?b=2&a=1"),
        ("http://a.test/x?b=2&", "http://a.test/x?b=2&a=1"),
        ("http://a.test/x??", "http://a.test/x??&a=1"),
    ])
    func query(text: String, longer: String) throws {
        #expect(try #require(URLText(text)).appendingQuery("a=1")?.text == longer)
    }

    /// A request has the same URL, however it was set.
    @Test func request() throws {
        let text = try #require(URLText("http://a.test/v1")?.appending("/x?a=1"))
        var request = Request(
            like: Request(url: try #require(URL(string: "http://b.test"))), method: .put, url: text)
        #expect(request.method == .put)
        #expect(request.url.absoluteString == "http://a.test/v1/x?a=1")
        #expect(request.urlText == "http://a.test/v1/x?a=1")
        let added = ["b= ", "b=2"].map { request.appendEscapedQuery($0) }
        #expect(added == [false, true])
        #expect(request.urlText == "http://a.test/v1/x?a=1&b=2")
        request.url = try #require(URL(string: "http://c.test/#part"))
        #expect(request.urlText == "http://c.test/#part")
        let isAdded = request.appendEscapedQuery("b=2")
        #expect(!isAdded)
    }
}
