import FoundationEssentials
import HTTPTypes
import RxHTTP
import Testing

@testable import RxCurl

@Suite struct CheckedURLTests {
    /// The longest host.
    private static let longHost = String(repeating: "a", count: 255)

    @Test(arguments: [
        "http://example.com", "HTTPS://example.com/a?b#c", "http://example.com:8080/", "http://example.com:",
        "http://[::1]:80/", "http://[::1]", "http://user:password@example.com/",
        "http://\(longHost):80/",
    ])
    func isAccepted(text: String) throws {
        let url = try #require(URL(string: text))
        let target = try CheckedURL(of: Request(url: url))
        #expect(target.text == url.absoluteString)
        #expect(target.hasUserInfo == text.contains("@"))
    }

    @Test(arguments: [
        "ftp://example.com", "/relative", "example.com", "http:///path", "http://:80/", "http://@/",
        "http://example.com:0/", "http://example.com:65536/", "http://example.com:999999999999999999999/",
        "mailto:a@example.com", "httpx://example.com", "http://\(longHost)a/", "https://u@\(longHost)a:80",
    ])
    func isRefused(text: String) throws {
        let url = try #require(URL(string: text))
        #expect { try CheckedURL(of: Request(url: url)) } throws: { error in
            (error as? NetworkError)?.code == .invalidURL
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", 200, "OK"), ("HTTP/2 404 \r\n", 404, ""), ("HTTP/1.0 500\n", 500, ""),
        ("HTTP/1.1 299 Two  Words \r\n", 299, "Two  Words"),
    ])
    func statusLine(text: String, code: Int, reason: String) {
        var reader = StatusLine()
        for _ in 0..<2 {
            let status = unsafe Array(text.utf8).withUnsafeBytes { unsafe reader.read($0) }
            #expect(status?.code == code)
            #expect(status?.reasonPhrase == reason)
        }
    }

    @Test(arguments: [
        "", "\r\n", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000 OK", "HTTP/1.1 2x0 OK",
        "ICY 200 OK", "Content-Length: 3", "HTTP/1.1 -20 OK",
    ])
    func noStatusLine(text: String) {
        var reader = StatusLine()
        #expect(unsafe Array(text.utf8).withUnsafeBytes { unsafe reader.read($0) } == nil)
    }

    @Test func uploadProgressIsThrottledButForTheLast() {
        var progress = UploadProgress(total: 100)
        func count(_ event: TransferEvent?) -> Int64? {
            if case .uploaded(let bytes, 100) = event { bytes } else { nil }
        }
        #expect(count(progress.advance(to: 10, now: .zero)) == 10)
        #expect(count(progress.advance(to: 20, now: .milliseconds(49))) == nil)
        #expect(count(progress.advance(to: 30, now: .milliseconds(50))) == 30)
        #expect(count(progress.advance(to: 5, now: .seconds(1))) == nil)
        #expect(count(progress.advance(to: 100, now: .milliseconds(51))) == 100)
        #expect(progress.isComplete)
        #expect(count(progress.finish(at: 100)) == nil)
        var unreported = UploadProgress(total: 100)
        #expect(count(unreported.finish(at: 100)) == 100)
    }
}
