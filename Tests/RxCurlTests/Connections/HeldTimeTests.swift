import Testing

@testable import RxCurl

/// The time for which requests were held, in nanoseconds.
@Suite struct HeldTimeTests {
    @Test func allTimesAddUp() {
        var time = HeldTime()
        #expect(time.total(at: 5) == 0)
        time.begin(at: 10)
        #expect(time.isRunning)
        #expect([10, 13].map { time.total(at: $0) } == [0, 3])
        time.end(at: 20)
        #expect(!time.isRunning)
        #expect(time.total(at: 100) == 10)
        time.begin(at: 100)
        time.begin(at: 103)
        time.end(at: 105)
        time.end(at: 110)
        #expect(time.total(at: 200) == 15)
    }

    /// A request that arrived after others had been held, or had waited in the queue before that.
    @Test func aRequestHasSeenWhatWasAdded() {
        var time = HeldTime()
        time.begin(at: 0)
        time.end(at: 10)
        let before = time.total(at: 50)
        time.begin(at: 70)
        #expect(time.total(at: 75) - before == 5)
    }
}
