import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxParameters
import Testing

@testable import RxClient

@Suite struct PathTemplateTests {
    private func url(
        _ path: String, _ values: PathValues = [:], base: String = "https://a.test/v1"
    ) throws -> String {
        try PreparedRequest(
            InlineEndpoint(.get, path, at: values), configuration: ClientConfiguration(baseURL: base)
        )
        .serialized().url.absoluteString
    }

    /// A value is one segment, for any characters.
    @Test(arguments: [
        ("7", "7"), ("a b", "a%20b"), ("?x=1#y", "%3Fx%3D1%23y"), ("100%", "100%25"),
        ("grün", "gr%C3%BCn"), ("a\r\nb", "a%0D%0Ab"), ("{id}", "%7Bid%7D"), ("%41%zz", "%2541%25zz"),
        ("...", "..."), (";v=1", "%3Bv%3D1"), ("a..b", "a..b"), ("%2e%2ea", "%252e%252ea"),
    ])
    func escaping(value: String, escaped: String) throws {
        #expect(try url("/users/{id}/posts", ["id": value]) == "https://a.test/v1/users/\(escaped)/posts")
    }

    /// nginx decodes a path once before it splits it into segments, and servers behind it may decode it
    /// again.
    /// A value that could change the path is refused, in every encoding.
    @Test(arguments: [
        "a/b", "/", "a\\b", "../admin", "..\\admin", ".", "..", "%2F", "a%2fb", "%5c", "%2e%2e", "%2E",
        ".%2e",
        "%252F", "%25252f", "%252e%252e", "%25%32%46", "%2%46", "..;a=1", "%2e%2e%3bx", "..%2Fadmin",
    ])
    func separators(value: String) {
        let error = #expect(throws: NetworkError.self) { try url("/users/{id}/posts", ["id": value]) }
        #expect(error?.code == .invalidURL)
        #expect(error.map { "\($0)".contains("admin") } == false, "the value may be a secret")
        #expect(throws: NetworkError.self) { try url("https://a.test/users/{id}", ["id": value]) }
    }

    /// Nested escapes are read in linear time.
    @Test func nestedEscapes() {
        let value = "%" + String(repeating: "25", count: 500_000)
        #expect(throws: NetworkError.self) { try url("/{id}", ["id": value + "2F"]) }
        #expect(throws: Never.self) { try url("/{id}", ["id": value]) }
    }

    /// Several placeholders, values of any type that has a text, parts of a segment.
    @Test func several() throws {
        #expect(
            try url("/{kind}/v{major}.{minor}/{kind}", ["kind": "tea", "major": 1, "minor": 2.5])
                == "https://a.test/v1/tea/v1.2.5/tea")
    }

    /// A mismatch of placeholders and values is an error before anything is sent.
    @Test(
        arguments: [
            ("/users/{id}", [:]), ("/users/{id}", ["id": ""]), ("/users/{id", ["id": 1]),
            ("/users", ["id": 1]), ("/users/{id}", ["id": 1, "name": 2]), ("/{key...}", [:]),
            ("/{key...}", ["key": ""]), ("/{key...}", ["key...": "a"]), ("/{...}", ["key": "a"]),
        ] as [(String, PathValues)])
    func misfits(path: String, values: PathValues) {
        let error = #expect(throws: NetworkError.self) { try url(path, values) }
        #expect(error?.code == .invalidParameters)
    }

    /// No path leaves its place by dot segments: plain, escaped, or through a value.
    @Test(
        arguments: [
            ("/users/{id}", "."), ("/users/{id}", ".."), ("/a/../b", nil), ("/a/..", nil), ("/./b", nil),
            ("/a/%2e%2E/b", nil), ("/a/.%2e/b", nil), ("..", nil), ("/a\\..\\b", nil), ("/a/{x}./b", "."),
            ("/..?q=1", nil), ("/a/..%2Fb", nil), ("/a/..%5cb", nil), ("/a%2F../b", nil),
            ("/a/%252e%252e/b", nil),
            ("/a/..;x/b", nil), ("/a/{x}", "%2e."), ("/a/{x}{x}", "."),
        ] as [(String, String?)])
    func traversal(path: String, value: String?) {
        let values: PathValues = value.map { [path.contains("{x}") ? "x" : "id": $0] } ?? [:]
        let error = #expect(throws: NetworkError.self) { try url(path, values) }
        #expect(error?.code == .invalidURL)
        #expect(throws: NetworkError.self) { try url("https://a.test" + path, values) }
    }

    /// A placeholder for several segments escapes each by itself, and keeps the slashes.
    @Test(arguments: [
        ("2026/tea.jpg", "2026/tea.jpg"), ("a", "a"), ("a b/c+d", "a%20b/c%2Bd"), ("?x/#y", "%3Fx/%23y"),
        ("100%/%41", "100%25/%2541"), ("a%2Fb", "a%252Fb"), ("grün/tee", "gr%C3%BCn/tee"),
        // Different keys of an object store.
        ("a//b", "a//b"), ("a/b/", "a/b/"), ("/a", "/a"), ("/", "/"), ("//evil.test/x", "//evil.test/x"),
        ("https://evil.test/x", "https%3A//evil.test/x"), ("a\\b", "a%5Cb"),
        ("@evil.test:1", "%40evil.test%3A1"),
        (".../a..b/.c/d.", ".../a..b/.c/d."), ("~-._/!$&'()*,;=", "~-._/%21%24%26%27%28%29%2A%2C%3B%3D"),
    ])
    func segments(value: String, escaped: String) throws {
        #expect(try url("/photos/{key...}", ["key": value]) == "https://a.test/v1/photos/" + escaped)
        #expect(try url("/{key...}/acl", ["key": value]) == "https://a.test/v1/\(escaped)/acl")
        #expect(try url("/{key...}", ["key": value], base: "https://a.test") == "https://a.test/" + escaped)
        #expect(PercentEncoding.path(value) == escaped)
    }

    /// Dot segments in several segments are refused, in every encoding.
    @Test(arguments: [
        ".", "..", "../a", "a/..", "a/../b", "a/./b", "./a", "a/%2e%2E/b", "a/.%2e", "a%2F../b",
        "a\\..\\b",
        "a%5c..", "a/%252e%252e/b", "a/..;x/b", "a/%2e%2e%3bx", "%2%46..", "a//../b",
    ])
    func dotSegments(value: String) {
        let error = #expect(throws: NetworkError.self) { try url("/photos/{key...}", ["key": value]) }
        #expect(error?.code == .invalidURL)
        #expect(throws: NetworkError.self) { try url("https://a.test/{key...}", ["key": value]) }
    }

    /// Dots that become a dot segment beside a value are refused as well.
    @Test(arguments: [".", "./a", "b/."])
    func dotsBesideSegments(value: String) {
        #expect(throws: NetworkError.self) { try url("/a/.{key...}", ["key": value]) }
        #expect(throws: NetworkError.self) { try url("/a/{key...}.", ["key": value]) }
    }

    /// Only the unreserved characters of RFC 3986 stay in a segment.
    @Test func encoder() {
        let ascii = String(decoding: (0..<128).map { UInt8($0) }, as: UTF8.self)
        let kept = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
        let segment = PercentEncoding.segment(ascii)
        #expect(segment.utf8.count == kept.utf8.count + (128 - kept.utf8.count) * 3)
        #expect(PercentEncoding.segment(kept) == kept)
        #expect(segment.percentDecoded == ascii)
        #expect(PercentEncoding.segment("a+b/c d") == "a%2Bb%2Fc%20d")
    }

    /// Other dots are allowed.
    @Test(arguments: [
        "/a.b/..c/d..", "/x?p=../y", "/.well-known/x", "/projects/group%2Fproject", "/a;v=1.2",
        "/x?p=%2e%2e%2f",
    ])
    func plainDots(path: String) throws {
        #expect(try url(path) == "https://a.test/v1" + path)
    }
}
