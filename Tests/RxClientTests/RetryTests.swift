import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// The rules of Docs/Semantics.md, "Retry".
@Suite struct RetryTests {
    typealias Reply = ScriptedTransport.Reply

    private let fixture = RetryFixture()
    private var clock: VirtualScheduler { fixture.clock }

    private func attempts(_ answers: [Reply], _ call: InlineEndpoint = InlineEndpoint(.get, "/x")) throws
        -> Int
    {
        let (client, transport) = fixture(answers)
        let recorder = Recorder(client.request(call), on: clock)
        try clock.run()
        #expect(recorder.events.count == (recorder.failure == nil ? 2 : 1))
        return transport.requests.count
    }

    private func call(_ method: String, _ headers: Headers = [:]) throws -> InlineEndpoint {
        try InlineEndpoint(#require(HTTPRequest.Method(method)), "/x", headers: headers)
    }

    /// GET HEAD OPTIONS TRACE PUT DELETE are retried, POST and PATCH are not.
    @Test(arguments: [
        ("GET", true), ("HEAD", true), ("OPTIONS", true), ("TRACE", true), ("PUT", true),
        ("DELETE", true), ("POST", false), ("PATCH", false), ("PURGE", false),
    ])
    func methods(method: String, isRetried: Bool) throws {
        #expect(try attempts([.status(.serviceUnavailable)], call(method)) == (isRetried ? 3 : 1))
        #expect(try attempts([.failure(.connectionLost)], call(method)) == (isRetried ? 3 : 1))
    }

    /// POST and PATCH are retried if the request opts in or carries Idempotency-Key.
    @Test(arguments: ["POST", "PATCH"])
    func optIn(method: String) throws {
        #expect(try attempts([.status(.badGateway)], call(method, ["idempotency-key": "1"])) == 3)
        let (client, transport) = fixture([.failure(.emptyReply)])
        let endpoint = OptingIn(method: try #require(HTTPRequest.Method(method)))
        client.request(endpoint).subscribe()
        try clock.run()
        #expect(transport.requests.count == 3)
    }

    /// A POST that was redirected to a GET is not sent again after a failure of the GET.
    @Test(arguments: [Reply.status(.serviceUnavailable), .failure(.connectionLost), .failure(.connect)])
    func redirectedPost(failure: Reply) throws {
        let (client, transport) = fixture([.status(.seeOther, headers: [.location: "/orders/1"]), failure])
        let recorder = Recorder(client.post("/orders"), on: clock)
        try clock.run()
        #expect(transport.requests.map(\.method) == [.post, .get])
        #expect(recorder.failure?.method == .get)
        #expect(recorder.failure?.isUnsent == false)
    }

    /// A GET that was redirected is retried from the first URL.
    @Test func redirectedGet() throws {
        let moved = Reply.status(.found, headers: [.location: "/y"])
        let (client, transport) = fixture([moved, .status(.serviceUnavailable), moved, .json("1")])
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.requests.map(\.url.path) == ["/x", "/y", "/x", "/y"])
    }

    /// The total deadline applies to stages chained by hand, for each request they send.
    @Test func deadlineByHand() throws {
        let (client, _) = fixture([.stall], within: .milliseconds(400))
        let recorder = Recorder(client.response(.get("/x")), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .totalTimeout)
        #expect(clock.now == .milliseconds(400))
    }

    /// Creating a client sends nothing to its transport.
    @Test func quietClient() {
        final class Counting: Transport {
            let sent = Mutex(0)
            var scheduler: any Scheduler { ActorScheduler.shared }
            func send(_: Request) -> Observable<TransferEvent, NetworkError> {
                sent.withLock { $0 += 1 }
                return .empty()
            }
        }
        let transport = Counting()
        _ = Client(baseURL: "https://shop.test", transport: transport)
        #expect(transport.sent.withLock { $0 } == 0)
    }

    /// Any method is retried if the request provably was not sent.
    @Test(arguments: ["GET", "POST", "PATCH", "PURGE"])
    func unsent(method: String) throws {
        for code: NetworkError.Code in [.resolve, .connect, .proxy, .connectTimeout] {
            #expect(try attempts([.failure(code)], call(method)) == 3)
        }
    }

    /// Statuses: 408 425 429 500 502 503 504. Never 501, 505 or other 4xx.
    @Test(arguments: [
        (408, true), (425, true), (429, true), (500, true), (502, true), (503, true), (504, true),
        (501, false), (505, false), (506, false), (511, false), (400, false), (401, false), (403, false),
        (404, false), (409, false), (410, false), (413, false), (418, false), (422, false), (451, false),
        (304, false),
    ])
    func statuses(code: Int, isRetried: Bool) throws {
        #expect(try attempts([.status(.init(code: code))]) == (isRetried ? 3 : 1))
    }

    /// 413 only with Retry-After.
    @Test func tooLarge() throws {
        #expect(try attempts([.status(.contentTooLarge, headers: [.retryAfter: "1"])]) == 3)
    }

    /// Transport errors: resolve, connect, reset, empty reply, partial body, attempt timeout; no others.
    @Test(arguments: [
        (NetworkError.Code.resolve, true), (.connect, true), (.proxy, true), (.connectTimeout, true),
        (.connectionLost, true), (.emptyReply, true), (.partialBody, true), (.attemptTimeout, true),
        (.invalidURL, false), (.tls, false), (.tooLarge, false), (.tooManyRedirects, false),
        (.invalidRedirect, false), (.totalTimeout, false), (.invalidResponse, false), (.shutDown, false),
        (.decoding, false), (.envelope, false), (.loginExpired, false), (.noContent, false),
    ])
    func transportErrors(code: NetworkError.Code, isRetried: Bool) throws {
        #expect(try attempts([.failure(code)]) == (isRetried ? 3 : 1))
    }

    /// Failures after the response are not retried.
    @Test func afterTheAnswer() throws {
        let (client, transport) = fixture([.json("not json")])
        let recorder = Recorder(client.request(Typed()), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .decoding)
        #expect(transport.requests.count == 1)
    }

    /// The last attempt's error is the result, with the attempt count, under one id.
    @Test func lastError() throws {
        let (client, transport) = fixture([
            .failure(.connect), .status(.badGateway), .json(#"{"message": "third"}"#, status: .badGateway),
        ])
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.message == "third")
        #expect(recorder.failure?.attempt == 3)
        #expect(transport.requests.map(\.attempt) == [1, 2, 3])
        #expect(Set(transport.requests.map(\.id)).count == 1)
        #expect(recorder.failure?.requestID == transport.requests.first?.id)
    }

    /// A body that can be sent only once is not retried: the first error is the result.
    @Test func oneShot() throws {
        var error = try fixture.transient()
        error.isReplayable = false
        #expect(RetryPolicy<NetworkError>.exponentialBackoff().delay(error, RetryHistory(count: 0)) == nil)
        error.code = .connect
        error.isUnsent = true
        #expect(RetryPolicy<NetworkError>.exponentialBackoff().delay(error, RetryHistory(count: 0)) == nil)
    }

    /// Cancelling ends the wait.
    @Test func cancelWait() throws {
        let (client, transport) = fixture([.status(.badGateway)])
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.advance(by: .milliseconds(500))
        #expect(clock.pendingCount == 1)
        recorder.cancel()
        #expect(clock.pendingCount == 0)
        try clock.run()
        #expect(transport.requests.count == 1)
        #expect(recorder.events.isEmpty)
    }

    /// A delay longer than the rest of the total deadline is not started.
    @Test func deadlineStopsWaits() throws {
        let (client, transport) = fixture(
            [.status(.badGateway, after: .milliseconds(100))], retry: RetryFixture.everySecond(9),
            within: .milliseconds(2500))
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .milliseconds(1100), .milliseconds(2200)])
        #expect(recorder.failure?.status == .badGateway)
        #expect(recorder.failure?.attempt == 3)
        #expect(recorder.events.map(\.time) == [.milliseconds(2300)])
    }

    /// The total deadline ends the request at any time, with the number of attempts.
    @Test func totalDeadline() throws {
        let (client, transport) = fixture([.status(.badGateway), .stall], within: .seconds(3))
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .totalTimeout)
        #expect(recorder.failure?.attempt == 2)
        #expect(recorder.events.map(\.time) == [.seconds(3)])
        #expect(transport.exchanges.map(\.outcome) == [.finished, .cancelled])
    }

    /// Extreme waits and limits do not trap.
    @Test func hugeDurations() throws {
        let (client, transport) = fixture(
            [.status(.badGateway, headers: [.retryAfter: "99999999999999999999"])],
            retry: .exponentialBackoff(backoff: .constant(.seconds(Int.max)), maxDelay: .seconds(Int.max)),
            within: .seconds(Int.max))
        try clock.advance(by: .seconds(1))
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.advance(by: .seconds(100_000))
        #expect(transport.requests.count == 1)
        recorder.cancel()
        #expect(clock.pendingCount == 0)
    }

    /// Each subscription is a request of its own.
    @Test func cold() throws {
        let (client, transport) = fixture([.json("1")])
        let stream = client.get("/x")
        #expect(transport.requests.isEmpty)
        for _ in 0..<3 { stream.subscribe() }
        try clock.run()
        #expect(Set(transport.requests.map(\.id)).count == 3)
    }
}

private struct OptingIn: Endpoint {
    typealias Output = Response
    let path = "/x"
    let method: HTTPRequest.Method
    let options = RequestOptions(isIdempotent: true)
}

private struct Typed: Endpoint {
    typealias Output = [Int]
    let path = "/x"
    let method = HTTPRequest.Method.get
}
