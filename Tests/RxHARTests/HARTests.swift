import RxHTTP
import Testing

@testable import RxHAR

/// The recording of an exchange, and its limits.
@Suite struct HARTests {
    @Test func theOldestGoWhenALateOneIsOlder() {
        var entries = HAREntries(limit: 2, byteLimit: .max)
        func entry(_ number: Int) -> HAR.Entry {
            HAR.Entry(
                startedDateTime: "", time: 0,
                request: HAR.Request(
                    method: "GET", url: "\(number)", httpVersion: "", cookies: [], headers: [],
                    queryString: [],
                    bodySize: 0),
                response: HAR.Response(content: HAR.Content(size: 0, mimeType: "")),
                timings: HAR.Timings(send: 0, wait: 0, receive: 0), requestID: "", attempt: 1)
        }
        for number in [5, 6, 2, 9, 1, 7] { entries.add(entry(number), number) }
        #expect(entries.all.map(\.request.url) == ["7", "9"])
    }

    /// Cookies are cut by bytes, as servers cut them: U+0600 and U+0301 make one `Character` of two. A cookie may have
    /// a value alone.
    @Test(arguments: [
        ("sid=\u{301}s7==", "sid"), ("sid\u{600}=s7==", "sid\u{600}"), (" sid =a=s7", "sid"), ("s7", ""),
    ])
    func cookiesAreNamedWithoutTheirValues(cookie: String, name: String) {
        #expect(HAR.Cookie.sent(in: "a=1; \(cookie)").map(\.name) == ["a", name])
        #expect(HAR.Cookie(set: "\(cookie); Path=/")?.name == (name.isEmpty ? nil : name))
    }

    @Test func formsAreCutByBytes() {
        let pairs = HAR.Pair.pairs(inForm: "a=\u{600}&b=\u{301}c&d")
        #expect(pairs.map(\.name) == ["a", "b", "d"])
        #expect(pairs.map(\.value) == ["\u{600}", "\u{301}c", ""])
    }

    @Test func theTimingsAreThoseOfTheTransfer() {
        let new = HAR.Timings(
            TransferMetrics(
                queued: .milliseconds(1), resolved: .milliseconds(2), connected: .milliseconds(5),
                secured: .milliseconds(9), sent: .milliseconds(10), firstByte: .milliseconds(14),
                total: .milliseconds(20)))
        #expect(
            new == HAR.Timings(blocked: 1, dns: 2, connect: 7, send: 1, wait: 4, receive: 6, ssl: 4))
        #expect(new.total == 21)
        let reused = HAR.Timings(
            TransferMetrics(
                sent: .milliseconds(1), firstByte: .milliseconds(4), total: .milliseconds(6),
                isConnectionReused: true))
        #expect(reused == HAR.Timings(blocked: 0, send: 1, wait: 3, receive: 2))
        // A response that came before the request was sent.
        let early = HAR.Timings(
            TransferMetrics(
                sent: .milliseconds(5), firstByte: .milliseconds(2), total: .milliseconds(6),
                isConnectionReused: true))
        #expect(early == HAR.Timings(blocked: 0, send: 5, wait: 0, receive: 1))
    }
}
