import RxHTTP
import Testing

@testable import RxCurl

@Suite struct TransferClockTests {
    typealias Phase = TransferClock.Phase

    /// A clock with these limits, started at 100 s.
    private static func clock(_ limits: Timeouts) -> (clock: TransferClock, first: UInt64?) {
        var clock = TransferClock(limits)
        let first = clock.begin(at: seconds(100))
        return (clock, first)
    }

    private static func seconds(_ number: Double) -> UInt64 { UInt64(number * 1e9) }

    @Test func nothingIsToBeDoneWithoutLimits() {
        var (clock, first) = Self.clock(.unlimited)
        #expect(first == nil)
        for phase in [Phase.connecting, .sending, .waiting, .receiving] {
            let later = Self.seconds(1_000_000_000)
            #expect(clock.check(at: later, phase: phase, progress: 0, isWaived: false) == .unlimited)
        }
    }

    /// Each phase has its limit and its code.
    @Test(
        arguments: [
            (.connecting, .connectTimeout, 10), (.sending, .idleTimeout, 20),
            (.waiting, .firstByteTimeout, 60), (.receiving, .idleTimeout, 20),
        ] as [(Phase, NetworkError.Code, Double)])
    func phases(phase: Phase, code: NetworkError.Code, limit: Double) {
        var (clock, _) = Self.clock(Timeouts())
        // Checked for the first time when it begins.
        _ = clock.check(at: Self.seconds(100), phase: phase, progress: 0, isWaived: false)
        let early = clock.check(
            at: Self.seconds(100 + limit) - 1, phase: phase, progress: 0, isWaived: false)
        #expect(early == .wait(until: Self.seconds(100 + limit)))
        let late = clock.check(at: Self.seconds(100 + limit), phase: phase, progress: 0, isWaived: false)
        #expect(late == .passed(code))
    }

    @Test func theAttemptIsLimitedWhateverMoves() {
        var (clock, first) = Self.clock(
            Timeouts(connect: nil, firstByte: nil, idle: nil, attempt: .seconds(5)))
        #expect(first == Self.seconds(105))
        for step in 1...4 {
            let result = clock.check(
                at: Self.seconds(100 + Double(step)), phase: .receiving, progress: step, isWaived: false)
            #expect(result == .wait(until: Self.seconds(105)))
        }
        let result = clock.check(at: Self.seconds(105), phase: .receiving, progress: 9, isWaived: false)
        #expect(result == .passed(.attemptTimeout))
    }

    @Test func connectingCountsFromTheBeginningHoweverItMoves() {
        var (clock, _) = Self.clock(Timeouts())
        for step in 1...9 {
            _ = clock.check(
                at: Self.seconds(100 + Double(step)), phase: .connecting, progress: step, isWaived: true)
            clock.restart(at: Self.seconds(100 + Double(step)))
        }
        let result = clock.check(at: Self.seconds(110), phase: .connecting, progress: 10, isWaived: true)
        #expect(result == .passed(.connectTimeout))
    }

    /// For a request that starts over after it was sent.
    @Test func aClockThatBeginsAgainIsConnecting() {
        var (clock, _) = Self.clock(
            Timeouts(connect: .seconds(10), firstByte: nil, idle: nil, attempt: nil))
        _ = clock.check(at: Self.seconds(101), phase: .receiving, progress: 5, isWaived: false)
        let next = clock.begin(at: Self.seconds(200))
        #expect(next == Self.seconds(210))
    }

    /// For a request that waits for its content first, with a check in between or without one.
    @Test(arguments: [false, true])
    func connectingCountsFromTheEndOfTheWaitForContent(isChecked: Bool) {
        var (clock, _) = Self.clock(
            Timeouts(connect: .seconds(10), firstByte: nil, idle: nil, attempt: nil))
        if isChecked {
            let waiting = clock.check(
                at: Self.seconds(110), phase: .sending, progress: 0, isWaived: true)
            #expect(waiting == .unlimited)
        }
        let next = clock.connect(at: Self.seconds(150))
        #expect(next == Self.seconds(160))
        let early = clock.check(
            at: Self.seconds(160) - 1, phase: .connecting, progress: 0, isWaived: false)
        #expect(early == .wait(until: Self.seconds(160)))
        let late = clock.check(at: Self.seconds(160), phase: .connecting, progress: 0, isWaived: false)
        #expect(late == .passed(.connectTimeout))
    }

    enum Event: CaseIterable { case progress, waiver, restart, otherPhase }

    /// The start of a phase's time.
    @Test(arguments: Event.allCases)
    func restarts(event: Event) {
        var (clock, _) = Self.clock(Timeouts())
        _ = clock.check(at: Self.seconds(101), phase: .receiving, progress: 5, isWaived: false)
        if event == .restart { clock.restart(at: Self.seconds(120)) }
        let middle = clock.check(
            at: Self.seconds(120), phase: event == .otherPhase ? .sending : .receiving,
            progress: event == .progress ? 6 : 5, isWaived: event == .waiver)
        #expect(middle == .wait(until: Self.seconds(122.5)))
        let phase = event == .otherPhase ? Phase.sending : .receiving
        let progress = event == .progress ? 6 : 5
        let early = clock.check(at: Self.seconds(140) - 1, phase: phase, progress: progress, isWaived: false)
        #expect(early == .wait(until: Self.seconds(140)))
        let late = clock.check(at: Self.seconds(140), phase: phase, progress: progress, isWaived: false)
        #expect(late == .passed(.idleTimeout))
    }

    @Test func aLimitIsFoundOutAtMostAnEighthLate() {
        var (clock, first) = Self.clock(Timeouts())
        var now = first ?? 0
        // Connected, sent and silent from just after the start.
        while case .wait(let next) = clock.check(at: now, phase: .receiving, progress: 1, isWaived: false) {
            #expect(next > now)
            now = next
        }
        #expect(now >= Self.seconds(120))
        #expect(now <= Self.seconds(122.5))
    }

    @Test func smallLimitsDoNotSpin() {
        let (_, first) = Self.clock(Timeouts(connect: nil, idle: .nanoseconds(1)))
        #expect(first == Self.seconds(100) + 1_000_000)
    }
}
