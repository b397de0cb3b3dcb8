import FoundationEssentials
import RxHTTP
import RxLite
import Synchronization

/// The scheduler of one simulated process: the clock of the simulation, with a wall clock that can jump. Work that waits
/// when the process is killed does not run before the simulation is over. Then it runs, since streams that nobody can
/// cancel, such as the refresh of a stored response, would stay in memory.
final class ProcessScheduler: DatedScheduler {
    private struct Contents {
        var isAlive = true
        var count = 0
        var timers: [Int: (timer: any Cancellable, work: @Sendable () -> Void)] = [:]
        /// The work left by a killed process; `nil` once the simulation is over.
        var remains: [@Sendable () -> Void]? = []
    }

    private let clock: VirtualScheduler
    private let wallClock: WallClock
    private let contents = Mutex(Contents())

    init(_ clock: VirtualScheduler, _ wallClock: WallClock) {
        self.clock = clock
        self.wallClock = wallClock
    }

    var now: Duration { clock.now }
    var date: Date { clock.date.addingTimeInterval(wallClock.offset / .seconds(1)) }
    /// Whether the process has not been killed.
    var isAlive: Bool { contents.withLock { $0.isAlive } }
    var isCurrent: Bool { clock.isCurrent }

    func schedule(_ work: @escaping @Sendable () -> Void) { _ = schedule(after: .zero, work) }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
        let number = contents.withLock { contents -> Int? in
            guard contents.isAlive else { return nil }
            contents.count += 1
            return contents.count
        }
        guard let number else { return Timer(number: 0, scheduler: nil) }
        let timer = clock.schedule(after: delay) { [weak self] in
            if let self, self.take(number) != nil { work() }
        }
        contents.withLock { $0.timers[number] = (timer, work) }
        return Timer(number: number, scheduler: self)
    }

    /// Stops all work, now and later.
    func kill() {
        let timers = contents.withLock { contents in
            contents.isAlive = false
            defer { contents.timers = [:] }
            let timers = contents.timers.sorted { $0.key < $1.key }.map(\.value)
            contents.remains? += timers.map(\.work)
            return timers
        }
        for timer in timers { timer.timer.cancel() }
    }

    /// Runs `work` when the simulation is over.
    func whenOver(_ work: @escaping @Sendable () -> Void) {
        let isOver = contents.withLock { contents in
            contents.remains?.append(work)
            return contents.remains == nil
        }
        if isOver { work() }
    }

    /// Runs the work left by the killed process, once.
    func release() {
        let remains = contents.withLock { $0.remains.take() } ?? []
        for work in remains { work() }
    }

    private func take(_ number: Int) -> (any Cancellable)? {
        contents.withLock { $0.timers.removeValue(forKey: number) }?.timer
    }

    private final class Timer: Cancellable {
        private let number: Int
        private weak let scheduler: ProcessScheduler?

        init(number: Int, scheduler: ProcessScheduler?) {
            self.number = number
            self.scheduler = scheduler
        }

        func cancel() { scheduler?.take(number)?.cancel() }
    }
}

/// The difference between a simulation's wall clock and its virtual time.
final class WallClock: Sendable {
    private let shift = Mutex(Duration.zero)

    var offset: Duration { shift.withLock { $0 } }

    func jump(by change: Duration) { shift.withLock { $0 += change } }
}
