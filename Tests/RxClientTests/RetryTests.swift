import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// The rules of SEMANTICS "Retry".
@Suite struct RetryTests {
    typealias Answer = ScriptedTransport.Answer

    private let clock = VirtualScheduler()
    /// What `Retry-After` dates are measured against.
    private static let now = Date(timeIntervalSince1970: 784_111_777)

    private func bench(
        _ answers: [Answer], retry: RetryPolicy<NetworkError> = retryAfterSecond()
    ) -> (Client, ScriptedTransport) {
        let script = Script(answers)
        let transport = ScriptedTransport(on: clock) { _ in script.next() }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.retry = retry
        return (Client(configuration: configuration, transport: transport), transport)
    }

    private static func retryAfterSecond(
        _ maxRetries: Int = 2, maxDelay: Duration = .seconds(30)
    ) -> RetryPolicy<NetworkError> {
        .exponentialBackoff(
            maxRetries: maxRetries, backoff: .constant(.seconds(1)), maxDelay: maxDelay,
            currentDate: { now })
    }

    private func attempts(_ answers: [Answer], _ call: Call = Call(.get, "/x")) throws -> Int {
        let (client, transport) = bench(answers)
        let recorder = Recorder(client.request(call), on: clock)
        try clock.run()
        #expect(recorder.events.count == (recorder.failure == nil ? 2 : 1))
        return transport.requests.count
    }

    private func call(_ method: String, _ headers: [String: String] = [:]) throws -> Call {
        try Call(#require(HTTPRequest.Method(method)), "/x", headers: headers)
    }

    @Test(
        "GET HEAD OPTIONS TRACE PUT DELETE are retried, POST and PATCH are not",
        arguments: [
            ("GET", true), ("HEAD", true), ("OPTIONS", true), ("TRACE", true), ("PUT", true),
            ("DELETE", true), ("POST", false), ("PATCH", false), ("PURGE", false),
        ])
    func methods(method: String, isRetried: Bool) throws {
        #expect(try attempts([.status(.serviceUnavailable)], call(method)) == (isRetried ? 3 : 1))
        #expect(try attempts([.failure(.connectionLost)], call(method)) == (isRetried ? 3 : 1))
    }

    @Test(
        "POST and PATCH are when the request opts in or carries Idempotency-Key",
        arguments: ["POST", "PATCH"])
    func optIn(method: String) throws {
        #expect(try attempts([.status(.badGateway)], call(method, ["idempotency-key": "1"])) == 3)
        let (client, transport) = bench([.failure(.emptyReply)])
        let endpoint = OptingIn(method: try #require(HTTPRequest.Method(method)))
        client.request(endpoint).subscribe()
        try clock.run()
        #expect(transport.requests.count == 3)
    }

    @Test("Any method when the request provably was not sent", arguments: ["GET", "POST", "PATCH", "PURGE"])
    func unsent(method: String) throws {
        for code: NetworkError.Code in [.resolve, .connect, .connectTimeout] {
            #expect(try attempts([.failure(code)], call(method)) == 3)
        }
    }

    @Test(
        "Statuses: 408 425 429 500 502 503 504. Never 501, 505 or other 4xx",
        arguments: [
            (408, true), (425, true), (429, true), (500, true), (502, true), (503, true), (504, true),
            (501, false), (505, false), (506, false), (511, false), (400, false), (401, false), (403, false),
            (404, false), (409, false), (410, false), (413, false), (418, false), (422, false), (451, false),
            (304, false),
        ])
    func statuses(code: Int, isRetried: Bool) throws {
        #expect(try attempts([.status(.init(code: code))]) == (isRetried ? 3 : 1))
    }

    @Test("413 only with Retry-After")
    func tooLarge() throws {
        #expect(try attempts([.status(.contentTooLarge, headers: [.retryAfter: "1"])]) == 3)
    }

    @Test(
        "Transport errors: resolve, connect, reset, empty reply, partial body, attempt timeout; no others",
        arguments: [
            (NetworkError.Code.resolve, true), (.connect, true), (.connectTimeout, true),
            (.connectionLost, true), (.emptyReply, true), (.partialBody, true), (.attemptTimeout, true),
            (.invalidURL, false), (.tls, false), (.tooLarge, false), (.tooManyRedirects, false),
            (.invalidRedirect, false), (.totalTimeout, false), (.invalidResponse, false), (.shutDown, false),
            (.decoding, false), (.envelope, false), (.loginExpired, false), (.noContent, false),
        ])
    func transportErrors(code: NetworkError.Code, isRetried: Bool) throws {
        #expect(try attempts([.failure(code)]) == (isRetried ? 3 : 1))
    }

    @Test("What fails after the answer is not retried")
    func afterTheAnswer() throws {
        let (client, transport) = bench([.json("not json")])
        let recorder = Recorder(client.request(Typed()), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .decoding)
        #expect(transport.requests.count == 1)
    }

    @Test(
        "Retry-After as seconds or HTTP-date; in the past → now; garbage → the back-off; never below",
        arguments: [
            ("5", 5), ("005", 5), ("30", 30), ("Sun, 06 Nov 1994 08:49:57 GMT", 20),
            ("Sunday, 06-Nov-94 08:49:57 GMT", 20), ("Sun Nov  6 08:49:57 1994", 20),
            // The back-off of one second is the more.
            ("0", 1), ("Sun, 06 Nov 1994 08:49:37 GMT", 1), ("Thu, 01 Jan 1970 00:00:00 GMT", 1),
            ("-5", 1), ("1.5", 1), ("soon", 1), ("5, 6", 1), ("", 1), ("٥", 1), ("+5", 1), ("0x5", 1),
        ])
    func retryAfter(value: String, seconds: Int) throws {
        let answer = Answer.steps(
            .head(
                ResponseHead(status: .serviceUnavailable, fieldLines: Array("Retry-After: \(value)\n".utf8))),
            .finish)
        let (client, transport) = bench([answer, .json("1")])
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(seconds)])
    }

    @Test("In the past → now, where the back-off is nothing")
    func retryNow() throws {
        let (client, transport) = bench(
            [.status(.tooManyRequests, headers: [.retryAfter: "Thu, 01 Jan 1970 00:00:00 GMT"]), .json("1")],
            retry: .exponentialBackoff(backoff: .constant(.zero), currentDate: { Self.now }))
        client.get("/x").subscribe()
        try clock.run()
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .zero])
    }

    @Test(
        "Over the policy's cap → fail with the original error",
        arguments: [
            "31", "99999999999999999999", "9223372036854775807", "Sun, 06 Nov 1994 08:50:08 GMT",
            "Fri, 31 Dec 9999 23:59:59 GMT",
        ])
    func overTheCap(value: String) throws {
        let (client, transport) = bench([
            .json(#"{"message": "later"}"#, status: .serviceUnavailable, headers: [.retryAfter: value])
        ])
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.status == .serviceUnavailable)
        #expect(recorder.failure?.message == "later")
        #expect(recorder.failure?.attempt == 1)
        #expect(transport.requests.count == 1)
        #expect(clock.now == .zero)
    }

    @Test("Full jitter: random(0 … min(cap, base·2ⁿ)), base 300 ms, cap 30 s", arguments: 1...20)
    func fullJitter(seed: UInt64) throws {
        let random = Mutex(Seeded(seed))
        let policy = RetryPolicy<NetworkError>.exponentialBackoff(
            maxRetries: .max,
            random: { random.withLock { .random(in: 0..<1, using: &$0) } })
        let error = try transient()
        var delays: Set<Duration> = []
        for retry in [0, 1, 2, 5, 6, 7, 10, 29, 30, 31, 62, 63, 64, 1000, Int.max - 1] {
            guard case .retry(let delay) = policy.decide(error, retry) else {
                Issue.record("no retry \(retry)")
                continue
            }
            let bound = retry < 7 ? Duration.milliseconds(300 << retry) : .seconds(30)
            #expect(delay >= .zero && delay < bound)
            delays.insert(delay)
        }
        #expect(delays.count > 10)
    }

    private func transient() throws -> NetworkError {
        NetworkError(.connectionLost, "", request: Request(url: try #require(URL(string: "http://a.test"))))
    }

    @Test("Two retries by default")
    func defaultCount() throws {
        let policy = RetryPolicy<NetworkError>.exponentialBackoff()
        let error = try transient()
        #expect(policy.decide(error, 1) != .stop)
        #expect(policy.decide(error, 2) == .stop)
        #expect(RetryPolicy<NetworkError>.never.decide(error, 0) == .stop)
    }

    @Test(
        "Also constant, exponential, and a rule of one's own",
        arguments: [
            (Backoff.constant(.seconds(2)), [2, 2, 2, 2]),
            (.exponential(base: .seconds(1), cap: .seconds(5)), [1, 2, 4, 5]),
            (Backoff { retry, _ in .seconds(10 - retry) }, [10, 9, 8, 7]),
        ])
    func backoffs(backoff: Backoff, seconds: [Int]) throws {
        let (client, transport) = bench(
            [.status(.badGateway)], retry: .exponentialBackoff(maxRetries: 4, backoff: backoff))
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        let starts = transport.exchanges.map(\.startedAt)
        #expect(zip(starts.dropFirst(), starts).map { $0 - $1 } == seconds.map { .seconds($0) })
        #expect(recorder.failure?.attempt == 5)
    }

    @Test("The error after the last attempt is the last attempt's, with the attempt count, under one id")
    func lastError() throws {
        let (client, transport) = bench([
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

    @Test("What can be sent only once is not retried: the first error stands")
    func oneShot() throws {
        var error = try transient()
        error.isReplayable = false
        #expect(RetryPolicy<NetworkError>.exponentialBackoff().decide(error, 0) == .stop)
        error.code = .connect
        error.isUnsent = true
        #expect(RetryPolicy<NetworkError>.exponentialBackoff().decide(error, 0) == .stop)
    }

    @Test("The wait is cancelled by cancelling")
    func cancelWait() throws {
        let (client, transport) = bench([.status(.badGateway)])
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.advance(by: .milliseconds(500))
        #expect(clock.pendingCount == 1)
        recorder.cancel()
        #expect(clock.pendingCount == 0)
        try clock.run()
        #expect(transport.requests.count == 1)
        #expect(recorder.events.isEmpty)
    }

    @Test("A delay longer than what is left of the total deadline is not begun")
    func deadlineStopsWaits() throws {
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.retry = Self.retryAfterSecond(9)
        configuration.timeouts.total = .milliseconds(2500)
        let transport = ScriptedTransport(on: clock) { _ in .status(.badGateway, after: .milliseconds(100)) }
        let client = Client(configuration: configuration, transport: transport)
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .milliseconds(1100), .milliseconds(2200)])
        #expect(recorder.failure?.status == .badGateway)
        #expect(recorder.failure?.attempt == 3)
        #expect(recorder.events.map(\.time) == [.milliseconds(2300)])
    }

    @Test("The total deadline ends whatever is under way, and says how many attempts there were")
    func totalDeadline() throws {
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.retry = Self.retryAfterSecond()
        configuration.timeouts.total = .seconds(3)
        let script = Script([.status(.badGateway), .stall])
        let transport = ScriptedTransport(on: clock) { _ in script.next() }
        let recorder = Recorder(
            Client(configuration: configuration, transport: transport).get("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.code == .totalTimeout)
        #expect(recorder.failure?.attempt == 2)
        #expect(recorder.events.map(\.time) == [.seconds(3)])
        #expect(transport.exchanges.map(\.outcome) == [.finished, .cancelled])
    }

    @Test("Waits and limits beyond all measure do not trap")
    func hugeDurations() throws {
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.timeouts.total = .seconds(Int.max)
        configuration.retry = .exponentialBackoff(
            backoff: .constant(.seconds(Int.max)), maxDelay: .seconds(Int.max))
        let transport = ScriptedTransport(on: clock) { _ in
            .status(.badGateway, headers: [.retryAfter: "99999999999999999999"])
        }
        let client = Client(configuration: configuration, transport: transport)
        try clock.advance(by: .seconds(1))
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.advance(by: .seconds(100_000))
        #expect(transport.requests.count == 1)
        recorder.cancel()
        #expect(clock.pendingCount == 0)
    }

    @Test("Each subscription is a request of its own")
    func cold() throws {
        let (client, transport) = bench([.json("1")])
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
    let isIdempotent = true
}

private struct Typed: Endpoint {
    typealias Output = [Int]
    let path = "/x"
    let method = HTTPRequest.Method.get
}

/// Answers in turn; the last repeats.
final class Script: Sendable {
    private let answers: Mutex<[ScriptedTransport.Answer]>

    init(_ answers: [ScriptedTransport.Answer]) { self.answers = Mutex(answers) }

    func next() -> ScriptedTransport.Answer {
        answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .stall }
    }
}
