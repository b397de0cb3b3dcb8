import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// The wait before a retry.
@Suite struct RetryDelayTests {
    private let fixture = RetryFixture()
    private var clock: VirtualScheduler { fixture.clock }

    /// Retry-After as seconds or HTTP-date; in the past → now; invalid → the backoff; never below it.
    @Test(arguments: [
        ("5", 5), ("005", 5), ("31", 31), ("60", 60), ("Sun, 06 Nov 1994 08:49:57 GMT", 20),
        ("Sunday, 06-Nov-94 08:49:57 GMT", 20), ("Sun Nov  6 08:49:57 1994", 20),
        // The backoff of one second is longer.
        ("0", 1), ("Sun, 06 Nov 1994 08:49:37 GMT", 1), ("Thu, 01 Jan 1970 00:00:00 GMT", 1),
        ("-5", 1), ("1.5", 1), ("soon", 1), ("5, 6", 1), ("", 1), ("٥", 1), ("+5", 1), ("0x5", 1),
    ])
    func retryAfter(value: String, seconds: Int) throws {
        let answer = ScriptedTransport.Reply.steps(
            .head(
                ResponseHead(status: .serviceUnavailable, fieldLines: Array("Retry-After: \(value)\n".utf8))),
            .finish)
        let (client, transport) = fixture([answer, .json("1")])
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(seconds)])
    }

    /// In the past → now, if there is no backoff.
    @Test func retryNow() throws {
        let (client, transport) = fixture(
            [.status(.tooManyRequests, headers: [.retryAfter: "Thu, 01 Jan 1970 00:00:00 GMT"]), .json("1")],
            retry: .exponentialBackoff(backoff: .constant(.zero), currentDate: { RetryFixture.now }))
        client.get("/x").subscribe()
        try clock.run()
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .zero])
    }

    /// Over the policy's cap → fail with the original error.
    @Test(arguments: [
        ("61", "61 s"), ("99999999999999999999", "2147483648 s"), ("9223372036854775807", "2147483648 s"),
        ("Sun, 06 Nov 1994 08:50:38 GMT", "61 s"), ("Fri, 31 Dec 9999 23:59:59 GMT", "2147483648 s"),
    ])
    func overTheCap(value: String, asked: String) throws {
        let (client, transport) = fixture([
            .json(#"{"message": "later"}"#, status: .serviceUnavailable, headers: [.retryAfter: value])
        ])
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.status == .serviceUnavailable)
        #expect(
            recorder.failure?.message
                == "later; the server asks to wait \(asked), above the limit of 60 s")
        #expect(recorder.failure?.attempt == 1)
        #expect(transport.requests.count == 1)
        #expect(clock.now == .zero)
    }

    /// The error names the wait that the policy's limit forbids, by whatever way the server asks.
    @Test(arguments: [(Duration.seconds(30), "30 s"), (.milliseconds(500), "0.5 s"), (.zero, "0 s")])
    func forbiddenWait(limit: Duration, text: String) throws {
        let said = "the server asks to wait 45 s, above the limit of \(text)"
        let answer = ScriptedTransport.Reply.status(.tooManyRequests, headers: [.retryAfter: "45"])
        let (client, transport) = fixture([answer], retry: .exponentialBackoff(maxDelay: limit))
        let recorder = Recorder(client.get("/x"), on: clock)
        let once = Recorder(
            client.get("/x", options: RequestOptions(retry: .exponentialBackoff(maxRetries: 0))), on: clock)
        let posted = Recorder(client.post("/x"), on: clock)
        try clock.run()
        #expect(recorder.failure?.message == "Too Many Requests; " + said)
        #expect(recorder.failure.map { "\($0)".hasSuffix(said) } == true)
        #expect(once.failure?.message == "Too Many Requests", "it would not have been retried anyway")
        #expect(posted.failure?.message == "Too Many Requests", "it would not have been retried anyway")
        #expect(transport.requests.count == 3)

        var later = try fixture.transient()
        later.retryDelay = .seconds(45)
        let policy = RetryPolicy<NetworkError>.exponentialBackoff(maxDelay: limit)
        #expect(policy.delay(later, RetryHistory(count: 1)) == nil)
        policy.stamp(&later, RetryHistory(count: 1))
        #expect(later.message == said)
        #expect(later.attempt == 2)
    }

    /// A limit for a minute is waited for by default.
    @Test func perMinute() throws {
        let (client, transport) = fixture(
            [.status(.tooManyRequests, headers: [.retryAfter: "59"]), .json("1")],
            retry: .exponentialBackoff(backoff: .constant(.zero)))
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(59)])
    }

    /// Full jitter: random(0 … min(cap, base·2ⁿ)), base 300 ms, cap 30 s.
    @Test(arguments: 1...20)
    func fullJitter(seed: UInt64) throws {
        let random = Mutex(SeededRandom(seed))
        let policy = RetryPolicy<NetworkError>.exponentialBackoff(
            maxRetries: .max,
            random: { random.withLock { .random(in: 0..<1, using: &$0) } })
        let error = try fixture.transient()
        var delays: Set<Duration> = []
        for retry in [0, 1, 2, 5, 6, 7, 10, 29, 30, 31, 62, 63, 64, 1000, Int.max - 1] {
            guard let delay = policy.delay(error, RetryHistory(count: retry)) else {
                Issue.record("no retry \(retry)")
                continue
            }
            let bound = retry < 7 ? Duration.milliseconds(300 << retry) : .seconds(30)
            #expect(delay >= .zero && delay < bound)
            delays.insert(delay)
        }
        #expect(delays.count > 10)
    }

    /// Decorrelated: random(base … 3 · the wait before), up to the cap.
    @Test(arguments: 1...20)
    func decorrelated(seed: UInt64) {
        var random = SeededRandom(seed)
        let backoff = Backoff.decorrelated(base: .milliseconds(300), cap: .seconds(30))
        var history = RetryHistory()
        var largest = Duration.zero
        for _ in 0..<100 {
            let delay = backoff.delay(history) { .random(in: 0..<1, using: &random) }
            let bound = min(.seconds(30), max(.milliseconds(300), history.lastDelay * 3))
            #expect(delay >= .milliseconds(300) && delay <= bound)
            largest = max(largest, delay)
            history = RetryHistory(count: history.count + 1, lastDelay: delay)
        }
        #expect(largest > .seconds(3))
    }

    /// Two retries by default.
    @Test func defaultCount() throws {
        let policy = RetryPolicy<NetworkError>.exponentialBackoff()
        let error = try fixture.transient()
        #expect(policy.delay(error, RetryHistory(count: 1)) != nil)
        #expect(policy.delay(error, RetryHistory(count: 2)) == nil)
        #expect(RetryPolicy<NetworkError>.never.delay(error, RetryHistory(count: 0)) == nil)
    }

    /// Also constant, exponential, and a custom rule.
    @Test(arguments: [
        (Backoff.constant(.seconds(2)), [2, 2, 2, 2]),
        (.exponential(base: .seconds(1), cap: .seconds(5)), [1, 2, 4, 5]),
        (Backoff { history, _ in .seconds(10 - history.count) }, [10, 9, 8, 7]),
    ])
    func backoffs(backoff: Backoff, seconds: [Int]) throws {
        let (client, transport) = fixture(
            [.status(.badGateway)], retry: .exponentialBackoff(maxRetries: 4, backoff: backoff))
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.run()
        let starts = transport.exchanges.map(\.startedAt)
        #expect(zip(starts.dropFirst(), starts).map { $0 - $1 } == seconds.map { .seconds($0) })
        #expect(recorder.failure?.attempt == 5)
    }

    /// Any wait that a server asks for is one that a clock can represent.
    @Test(arguments: ["9223372036854775807", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func withoutCap(value: String) throws {
        var error = try fixture.transient()
        error.head = ResponseHead(status: .serviceUnavailable, headerFields: [.retryAfter: value])
        let policy = RetryFixture.everySecond(maxDelay: .seconds(Int.max))
        guard let delay = policy.delay(error, RetryHistory(count: 0)) else { throw error }
        #expect(delay >= .seconds(1 << 31) - .seconds(1) && delay < .seconds(1 << 33))
    }
}
