import RxLite
import RxLoop
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// `shutDown()` itself traps unless `uv_loop_close` returns 0, so that its return is the proof that every
/// handle was closed.
@Suite struct WorkTests {
    @Test func workRunsOffTheLoopAndItsResultArrivesOnIt() async throws {
        let loop = EventLoop(name: "work")
        defer { loop.shutDown() }
        let places = try await loop.work { () throws(UVError) in loop.ownsCurrentThread }
            .map { [$0, loop.ownsCurrentThread] }.value()
        #expect(places == [false, true])
    }

    @Test func aThrownErrorIsTheStreams() async throws {
        let loop = EventLoop(name: "work")
        defer { loop.shutDown() }
        await #expect(throws: UVError.notFound) {
            _ = try await loop.work { () throws(UVError) -> Int in throw .notFound }.value()
        }
    }

    @Test func whatIsUnderWayIsWaitedForAndNoMoreIsTaken() throws {
        let loop = EventLoop(name: "work")
        let log = Mutex<[String]>([])
        let (begun, barrier) = (try Barrier(), try Barrier())
        loop.work { () throws(UVError) in
            begun.open()
            barrier.pass()
        }
        .flatMap { _ in loop.work { () throws(UVError) in log.withLock { $0.append("never") } } }
        .subscribe(onFailure: { error in log.withLock { $0.append("\(error == .canceled)") } })
        begun.pass()
        _ = loop.onShutdown {
            log.withLock { $0.append("hook") }
            barrier.open()
        }
        loop.shutDown()
        #expect(log.withLock { $0 } == ["hook", "true"])
    }

    /// The end of the loop proves that the result has arrived.
    @Test(arguments: [false, true]) func aResultThatArrivesDuringAPauseWaits(isFailing: Bool) throws {
        let loop = EventLoop(name: "work")
        let log = Mutex<[String]>([])
        let barrier = try Barrier()
        let running = loop.work { () throws(UVError) -> Int in
            barrier.pass()
            if isFailing { throw .notFound }
            return 7
        }
        .subscribe(
            onNext: { number in log.withLock { $0.append("\(number)") } },
            onFailure: { error in log.withLock { $0.append("\(error == .notFound)") } },
            onFinish: { log.withLock { $0.append("end") } })
        running.pause()
        barrier.open()
        loop.shutDown()
        #expect(log.withLock { $0 } == [])
        running.resume()
        #expect(log.withLock { $0 } == (isFailing ? ["true"] : ["7", "end"]))
    }

    /// It would wait for itself.
    @Test func shuttingDownFromWithinWorkStopsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            let loop = EventLoop(name: "work")
            _ = try await loop.work { () throws(UVError) in loop.shutDown() }.value()
        }
    }

    @Test func workMayShutDownAnotherLoop() async throws {
        let (loop, other) = (EventLoop(name: "work"), EventLoop(name: "other"))
        defer { loop.shutDown() }
        try await loop.work { () throws(UVError) in other.shutDown() }.value()
        #expect(!other.post {})
    }

    @Test func workAfterTheEndFails() async {
        let loop = EventLoop(name: "work")
        loop.shutDown()
        await #expect(throws: UVError.canceled) {
            _ = try await loop.work { () throws(UVError) in 1 }.value()
        }
    }

    /// Not async: it holds every thread of the pool, which all loops share, and must not itself wait for one of
    /// the few threads that async tests run on, as those may be waiting for the pool.
    @Test func aCancelledJobThatHasNotBegunIsDropped() throws {
        let loop = EventLoop(name: "work")
        defer { loop.shutDown() }
        let (barrier, cancelled, done) = (try Barrier(), try Barrier(), try Barrier())
        let runs = Atomic<Int>(0)
        // More than the pool has threads for, unless the environment asks for more than 64.
        for _ in 0..<64 {
            loop.work { () throws(UVError) in barrier.pass() }.subscribe()
        }
        let waiting = loop.work { () throws(UVError) in runs.add(1, ordering: .relaxed) }.subscribe()
        waiting.cancel()
        // The cancel has reached the loop when work posted after it has run.
        loop.schedule { cancelled.open() }
        cancelled.pass()
        barrier.open()
        // The pool runs jobs in order, so that this one comes after the cancelled one's turn.
        loop.work { () throws(UVError) in done.open() }.subscribe()
        done.pass()
        #expect(runs.load(ordering: .relaxed) == 0)
    }

    @Test func resultsThatNobodyWantsAreLetGoOf() {
        let loop = EventLoop(name: "work")
        let made = Atomic<Int>(0)
        let released = Atomic<Int>(0)
        for _ in 0..<50 {
            let running = loop.work { () throws(UVError) in
                made.add(1, ordering: .relaxed)
                return Token { released.add(1, ordering: .relaxed) }
            }
            .subscribe()
            loop.schedule { running.cancel() }
        }
        loop.shutDown()
        #expect(made.load(ordering: .relaxed) == released.load(ordering: .relaxed))
    }
}

/// Blocks callers until it is opened.
private final class Barrier: Sendable {
    private let ends: (reading: Int32, writing: Int32)

    init() throws {
        ends = try connectedSockets()
    }

    deinit { close(ends.reading) }

    func open() { close(ends.writing) }

    func pass() {
        var byte: UInt8 = 0
        unsafe _ = read(ends.reading, &byte, 1)
    }
}
