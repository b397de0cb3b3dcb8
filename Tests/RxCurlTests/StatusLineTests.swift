import HTTPTypes
import RxHTTP
import Testing

@testable import RxCurl

/// The reader of status lines, which remembers the last one.
@Suite struct StatusLineTests {
    private func read(_ text: String, by reader: inout StatusLine) -> Int? {
        let bytes = Array(text.utf8)
        return unsafe bytes.withUnsafeBytes { unsafe reader.read($0)?.code }
    }

    @Test func aLineThatIsNoneHasNoVersion() {
        var reader = StatusLine()
        let good = "HTTP/2 200 \r\n"
        #expect(read(good, by: &reader) == 200)
        #expect(reader.version == .http2)
        for bad in ["HTTP/2 20\r\n", "HTTP/1.1\r\n", "ICY 200 OK\r\n", "\r\n", ""] {
            #expect(read(bad, by: &reader) == nil)
            #expect(reader.version == nil)
        }
        #expect(read(good, by: &reader) == 200)
        #expect(reader.version == .http2)
    }

    @Test(arguments: [
        ("HTTP/1.0 204 No Content\r\n", HTTPVersion.http10, 204), ("HTTP/1.1 200\r\n", .http11, 200),
        ("HTTP/3 421 \r\n", .http3, 421),
    ])
    func theVersionIsThatOfTheLastLine(line: String, version: HTTPVersion, status: Int) {
        var reader = StatusLine()
        _ = read("HTTP/2 200 \r\n", by: &reader)
        #expect(read(line, by: &reader) == status)
        #expect(reader.version == version)
    }
}
