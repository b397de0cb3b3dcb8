import Foundation
import HTTPTypes
import RxHTTP
import Testing

@Suite struct HTTPVersionTests {
    @Test(
        arguments: [
            ("HTTP/1.0", .http10), ("HTTP/1.1", .http11), ("HTTP/2", .http2), ("HTTP/3", .http3),
            ("HTTP/2.0", .http2),
            ("", nil), ("HTTP/", nil), ("HTTP/x", nil), ("HTTP/1.", nil), ("HTTP/1,1", nil), ("HTTP/11", nil),
            ("HTTP/1.12", nil), ("http/1.1", nil), ("ICY", nil),
        ] as [(String, HTTPVersion?)])
    func isReadAndWritten(text: String, version: HTTPVersion?) {
        #expect(HTTPVersion(text) == version)
        if let version { #expect(HTTPVersion(version.description) == version) }
    }

    @Test func areInOrder() {
        let versions = [HTTPVersion.http3, .http10, .http2, .http11].sorted()
        #expect(versions.map(\.description) == ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3"])
        #expect(versions.map(\.major) == [1, 1, 2, 3])
        #expect(versions.map(\.minor) == [0, 1, 0, 0])
    }

    @Test(arguments: [nil, HTTPVersion.http2]) func aStoredHeadKeepsIt(version: HTTPVersion?) throws {
        let head = ResponseHead(status: .init(code: 200), fieldLines: [], httpVersion: version)
        let stored = try JSONDecoder().decode(ResponseHead.self, from: JSONEncoder().encode(head))
        #expect(stored.httpVersion == version)
    }
}
