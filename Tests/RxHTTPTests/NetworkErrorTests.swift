import FoundationEssentials
import HTTPTypes
import RxHTTP
import Testing

@Suite struct NetworkErrorTests {
    @Test func aChangedCopyLeavesTheOther() {
        let original = NetworkError(.connectionLost, "the connection broke")
        var copy = original
        copy.message = "another reason"
        copy.body.append(1)
        copy.isUnsent = true
        #expect(original.message == "the connection broke" && original.body.isEmpty && !original.isUnsent)
        #expect(copy.message == "another reason" && copy.body == [1] && copy.isUnsent)
    }

    /// The URL of an error has no user info, query or fragment.
    @Test(arguments: [
        ("https://a.test/x?token=secret", "https://a.test/x"),
        ("https://user:secret@a.test/x", "https://a.test/x"),
        ("https://user@a.test:81/x?secret#secret", "https://a.test:81/x"),
        ("https://:secret@a.test/x", "https://a.test/x"),
        ("https://a.test/x#secret", "https://a.test/x"),
        ("https://a.test/%20%F0%9F%8D%B5?q=%73ecret", "https://a.test/%20%F0%9F%8D%B5"),
        ("https://a.test", "https://a.test"),
        ("https://[::1]:8080/x?secret", "https://[::1]:8080/x"),
    ])
    func redaction(url: String, shown: String) throws {
        let request = Request(method: .post, url: try #require(URL(string: url)))
        let error = NetworkError(.connect, "no route", request: request)
        #expect(error.url?.absoluteString == shown)
        #expect(error.description == "connect POST \(shown) \(request.id): no route")
    }

    /// The description has code, request, attempt, status, curl's code and message.
    @Test func description() throws {
        var request = Request(url: try #require(URL(string: "https://a.test/")))
        request.attempt = 3
        var error = NetworkError(.status, "Not Found", request: request)
        error.head = ResponseHead(status: .notFound)
        error.curlCode = 22
        #expect(
            error.description
                == "status GET https://a.test/ \(request.id) (attempt 3) [404] [curl 22]: Not Found")
        #expect(NetworkError(.shutDown, "").description == "shutDown")
    }

    /// Requests that may be sent twice (RFC 9110 §9.2.2).
    @Test(arguments: [
        ("GET", true), ("HEAD", true), ("OPTIONS", true), ("TRACE", true), ("PUT", true),
        ("DELETE", true), ("POST", false), ("PATCH", false), ("PURGE", false), ("get", false),
    ])
    func idempotence(method: String, isIdempotent: Bool) throws {
        var request = Request(
            method: try #require(HTTPRequest.Method(method)), url: try #require(URL(string: "http://a.test")))
        #expect(request.isIdempotent == isIdempotent)
        #expect(NetworkError(.connect, "", request: request).isIdempotent == isIdempotent)
        request.headerFields[.idempotencyKey] = "1"
        #expect(request.isIdempotent)
        request.headerFields = [:]
        request.isDeclaredIdempotent = true
        #expect(request.isIdempotent)
    }

    /// Invalid header fields are refused before anything is sent.
    @Test(arguments: [
        ("X-A", "a\rb"), ("X-A", "a\nb"), ("X-A", "a\r\nb: c"), ("X-A", "a\u{0}b"), ("X-A", "a\u{7F}b"),
        ("X-A", " a"), ("X-A", "a\t"), ("X-A", "grün"), ("X-A", "🍵"), ("", "a"), ("X A", "a"),
        ("X:A", "a"), ("X\r\nY", "a"), ("Grün", "a"), (":path", "a"), ("X-A\u{0}", "a"),
    ])
    func illegalFields(name: String, value: String) throws {
        var request = Request(url: try #require(URL(string: "http://a.test")))
        let error = #expect(throws: NetworkError.self) { try request.setField(name, to: value) }
        #expect(error?.code == .invalidHeader)
        #expect(error.map { !$0.message.contains("\r") && !$0.message.contains("\n") } == true)
        #expect(request.headerFields.isEmpty)
    }

    /// The error about a secret value does not contain it.
    @Test func secretValue() throws {
        var request = Request(url: try #require(URL(string: "http://a.test")))
        let error = #expect(throws: NetworkError.self) {
            try request.setField("Authorization", to: "Bearer secret\n")
        }
        #expect(error.map { "\($0)" }?.contains("secret") == false)
    }

    /// Valid fields are set, and replace existing ones.
    @Test(arguments: ["", "b", "a b\tc", "\"x\", ;y", "~!@#$%^&*()"])
    func legalFields(value: String) throws {
        var request = Request(url: try #require(URL(string: "http://a.test")))
        try request.setField("x-a", to: "before")
        try request.setField("X-A", to: value)
        #expect(request.headerFields.map(\.value) == [value])
    }

    /// Origins: scheme, host and port; the scheme's default port if there is none.
    @Test(arguments: [
        ("http://a.test/x", "HTTP://A.TEST:80/y", true), ("https://a.test", "https://a.test:443", true),
        ("http://a.test", "https://a.test", false), ("http://a.test", "http://b.test", false),
        ("http://a.test", "http://a.test:81", false), ("http://a.test@b.test", "http://a.test", false),
        ("http://u:p@a.test", "http://a.test", true), ("https://[::1]", "https://[::1]:443", true),
        ("http://a.test", "http://a.test.", false),
    ])
    func origins(one: String, other: String, isSame: Bool) throws {
        let one = Origin(try #require(URL(string: one)))
        #expect(one != nil)
        #expect((one == Origin(try #require(URL(string: other)))) == isSame)
    }

    /// Only absolute http and https URLs have an origin.
    @Test(arguments: [
        "/x", "ftp://a.test", "file:///x", "a.test", "javascript:alert(1)", "http:", "http:///x",
    ])
    func noOrigin(url: String) {
        #expect(URL(string: url).flatMap { Origin($0) } == nil)
    }
}
