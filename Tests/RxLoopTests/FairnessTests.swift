import RxLite
import RxLoop
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Timers, sockets and posted work take turns, for any amount of each.
@Suite(.timeLimit(.minutes(1))) struct FairnessTests {
    /// Far more iterations than any of them may have to wait, and few enough for a test to end.
    private static let patience = 100_000

    enum Load: CaseIterable {
        /// A timer that is set to a time in the past, each time it fires.
        case overdueTimer
        /// Very short waits, each due before the previous one is done.
        case lateWaits
        /// An immediate that asks for the next one.
        case immediate
        /// Work that schedules more work.
        case work
    }

    @Test(arguments: Load.allCases)
    func nobodyIsStarved(by load: Load) async throws {
        let patience = load == .lateWaits ? 200 : Self.patience
        let loop = EventLoop(name: "fair")
        defer { loop.shutDown() }
        let pair = try Pair()
        let turns = await withCheckedContinuation { continuation in
            loop.schedule {
                let burden = Burden(load, on: loop, patience: patience)
                burden.onDone = { continuation.resume(returning: $0) }
                burden.start(watching: pair)
            }
        }
        #expect(turns.work.map { $0 < Burden.start + 10 } == true)
        #expect(turns.socket.map { $0 < Burden.start + 10 } == true)
        #expect(turns.timer.map { $0 < patience } == true)
    }

    @Test(arguments: Load.allCases)
    func shuttingDownWaitsForNoneOfThem(load: Load) async throws {
        let patience = load == .lateWaits ? 200 : Self.patience
        let loop = EventLoop(name: "fair end")
        let pair = try Pair()
        let turn = Mutex<Int?>(nil)
        let begun = try Pair()
        loop.schedule {
            let burden = Burden(load, on: loop, patience: patience)
            _ = loop.onShutdown {
                turn.withLock { $0 = burden.turn }
                burden.close()
            }
            burden.onBegin = { begun.wakeReader() }
            burden.start(watching: pair)
        }
        begun.waitForWriter()
        loop.shutDown()
        #expect(turn.withLock { $0.map { $0 < patience } } == true)
    }

    /// Work that other threads have posted at once runs in several iterations.
    @Test func aLongQueueLetsSocketsIn() async throws {
        let loop = EventLoop(name: "queue")
        defer { loop.shutDown() }
        let pair = try Pair()
        let count = 50_000
        let (ran, seen): (Int, Int?) = await withCheckedContinuation { continuation in
            loop.schedule {
                let log = Log()
                log.poll = try? Poll(on: loop, descriptor: pair.reading) { _, _ in
                    log.seen = log.ran
                    log.poll?.close()
                }
                log.poll?.start(.readable)
                loop.schedule { pair.wakeReader() }
                for _ in 0..<count { loop.schedule { log.ran += 1 } }
                loop.schedule { loop.schedule { continuation.resume(returning: (log.ran, log.seen)) } }
            }
        }
        #expect(ran == count)
        #expect(seen.map { $0 < count } == true)
    }

    private final class Log: @unchecked Sendable {
        // Unchecked: touched only on the test's loop.
        var ran = 0
        var seen: Int?
        var poll: Poll?
    }
}

/// Keeps a loop busy, and records the turns of other work.
private final class Burden: @unchecked Sendable {
    // Unchecked: touched only on the loop.
    struct Turns {
        var work: Int?
        var socket: Int?
        var timer: Int?
        var isComplete: Bool { work != nil && socket != nil && timer != nil }
    }

    /// The turn in which the others begin to wait.
    static let start = 5

    private let load: FairnessTests.Load
    private let loop: EventLoop
    private let patience: Int
    private(set) var turn = 0
    private var turns = Turns()
    private var timer: LoopTimer?
    private var immediate: Immediate?
    private var poll: Poll?
    private var onTurn: () -> Void = {}
    var onBegin: () -> Void = {}
    var onDone: ((Turns) -> Void)?

    init(_ load: FairnessTests.Load, on loop: EventLoop, patience: Int) {
        (self.load, self.loop, self.patience) = (load, loop, patience)
    }

    func start(watching pair: Pair) {
        // They keep this object until it closes them.
        timer = LoopTimer(on: loop) { self.take() }
        immediate = try? Immediate(on: loop) { self.take() }
        poll = try? Poll(on: loop, descriptor: pair.reading) { _, _ in
            self.turns.socket = self.turn
            self.poll?.close()
        }
        poll?.start(.readable)
        onTurn = { [self] in
            loop.schedule { self.turns.work = self.turn }
            _ = loop.schedule(after: .milliseconds(1)) { self.turns.timer = self.turn }
            pair.wakeReader()
            onBegin()
        }
        // Starts in the phase of the loop under test.
        _ = loop.schedule(after: .milliseconds(1)) { self.ask() }
    }

    private func ask() {
        switch load {
        case .overdueTimer: timer?.start(at: loop.nanoseconds - 5_000_000)
        case .lateWaits:
            for _ in 0..<2 { _ = loop.schedule(after: .nanoseconds(1)) { self.takeLate() } }
        case .immediate: immediate?.request()
        case .work: loop.schedule { self.take() }
        }
    }

    private func takeLate() {
        guard turn < patience else { return }
        _ = loop.schedule(after: .nanoseconds(1)) { self.takeLate() }
        let begin = loop.nanoseconds
        while loop.nanoseconds < begin + 1_100_000 {}
        step()
    }

    private func take() {
        if step() { ask() }
    }

    /// Whether there is more to do.
    @discardableResult private func step() -> Bool {
        turn += 1
        if turn == Self.start { onTurn() }
        guard turn < patience, !(turns.isComplete && onDone != nil) else {
            done()
            return false
        }
        return true
    }

    private func done() {
        guard let onDone else { return }
        self.onDone = nil
        close()
        onDone(turns)
    }

    func close() {
        turn = patience
        timer?.close()
        immediate?.close()
        poll?.close()
        (timer, immediate, poll) = (nil, nil, nil)
        onTurn = {}
    }
}

/// Two ends of a socket.
private final class Pair: Sendable {
    let reading: Int32
    private let writing: Int32

    init() throws {
        (reading, writing) = try connectedSockets()
    }

    deinit {
        close(reading)
        close(writing)
    }

    func wakeReader() { unsafe _ = write(writing, "x", 1) }

    func waitForWriter() {
        var byte: UInt8 = 0
        unsafe _ = read(reading, &byte, 1)
    }
}
