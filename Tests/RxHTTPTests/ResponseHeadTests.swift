import HTTPTypes
import RxHTTP
import RxTesting
import Testing

@Suite struct ResponseHeadTests {
    /// More fields than HTTPFields can hold do not trap.
    @Test func flood() {
        let lines = Array(repeating: Array("a:\n".utf8), count: 70_000).joined()
        #expect(ResponseHead(status: .ok, fieldLines: Array(lines)).headerFields.count == 65_534)
    }

    private func head(_ lines: String) -> ResponseHead {
        ResponseHead(status: .ok, fieldLines: Array(lines.utf8))
    }

    /// Field lines by RFC 9112 §5.
    @Test(arguments: [
        ("X-A: b\r\n", "b"), ("x-a:b\r\n", "b"), ("X-A: b\n", "b"), ("X-A:b", "b"),
        ("X-A: \t b \t \r\n", "b"), ("X-A:\r\n", ""), ("X-A: a b  c\r\n", "a b  c"),
        ("X-A: a:b:c\r\n", "a:b:c"), ("X-A: 1\r\nY: 2\r\nx-a: 3\r\n", "1, 3"),
        ("X-A: é\r\n", "é"),
        // A CR that ends no line is a space (RFC 9110 §5.5).
        ("X-A: b\rc\r\n", "b c"), ("X-A: b\r\rX-B: c\r\r\n", "b  X-B: c"),
        // obs-fold is one space (RFC 9112 §5.2).
        ("X-A: a\r\n b\r\n\tc\r\nY: 1\r\n", "a b c"), ("X-A:\r\n b\r\n", "b"),
        // No whitespace before the colon, and no name that is not a token.
        ("X-A : b\r\n", nil), (" X-A: b\r\n", nil), ("X-A b\r\n", nil), (": b\r\n", nil), ("", nil),
        ("\r\n\r\n", nil), ("X-AB: b\r\nX-: c\r\n", nil),
        // A continuation of an invalid line is dropped with it.
        ("garbage\r\n X-A: b\r\n", nil),
    ])
    func fields(lines: String, value: String?) throws {
        let name = try #require(HTTPField.Name("X-A"))
        #expect(head(lines)[name] == value)
        #expect(head(lines).headerFields[name] == value)
    }

    /// Names that differ in more than case are different names.
    @Test func similarNames() throws {
        let caret = try #require(HTTPField.Name("a^b"))
        let tilde = try #require(HTTPField.Name("a~b"))
        #expect(head("a~b: 1\r\n")[caret] == nil)
        #expect(head("a^b: 1\r\n")[tilde] == nil)
        #expect(head("A^B: 1\r\n")[caret] == "1")
        #expect(head("Content\rType: text/html\r\n")[.contentType] == nil)
        #expect(head("Content\u{D}Length: 1\r\n")[.contentLength] == nil)
    }

    /// A field folded over thousands of lines, and one repeated thousands of times, are complete.
    @Test func manyLines() throws {
        let name = try #require(HTTPField.Name("X-A"))
        let folded = head("X-A: a\r\n" + String(repeating: " b\r\n", count: 5000) + "Y: 1\r\n")
        #expect(folded[name] == "a" + String(repeating: " b", count: 5000))
        #expect(folded.headerFields.count == 2)
        let repeated = head(String(repeating: "X-A: b\r\n", count: 5000))
        #expect(repeated[name] == Array(repeating: "b", count: 5000).joined(separator: ", "))
    }

    /// Invalid lines are omitted, the others keep their order.
    @Test func invalidLines() {
        let fields = head("b: 1\r\nno colon\r\nbad name: 2\r\n\u{0}: 3\r\na: 4\r\nb: 5\r\n").headerFields
        #expect(fields.map { "\($0.name)=\($0.value)" } == ["b=1", "a=4", "b=5"])
    }

    /// Bytes that are not UTF-8 become U+FFFD and never trap.
    @Test func invalidUTF8() throws {
        let name = try #require(HTTPField.Name("X-A"))
        let head = ResponseHead(
            status: .ok, fieldLines: Array("X-A: a".utf8) + [0xFF, 0xC3] + Array("b\r\n".utf8))
        #expect(head[name]?.contains("\u{FFFD}") == true)
        #expect(head.headerFields.count == 1)
    }

    /// Written fields are read unchanged.
    @Test func fromFields() {
        let head = ResponseHead(
            status: .ok, headerFields: [.contentType: "text/plain", .location: "/x", .location: "/y"])
        #expect(head[.contentType] == "text/plain")
        #expect(head[.location] == "/x, /y")
        #expect(head.headerFields[values: .location] == ["/x", "/y"])
    }

    /// Mutated header sections never trap.
    @Test(arguments: 1...4)
    func mutations(seed: UInt64) {
        var random = SeededRandom(seed)
        let block = Array("Content-Type: text/html\r\nX-A: b\r\n folded\r\nSet-Cookie: a=b; c\r\n\r\n".utf8)
        for _ in 0..<1000 {
            let head = ResponseHead(status: .ok, fieldLines: block.mutated(by: &random))
            _ = head[.contentType]
            for field in head.headerFields { #expect(!field.name.rawName.isEmpty) }
        }
    }
}
