import RxNetworking
import Synchronization

/// A clock on which every look is half a minute after the one before, so that no limit of logins in a time is met.
final class LeapingClock: Scheduler {
    private let looks = Atomic(0)
    private let timers: any Scheduler = ActorScheduler.shared

    var now: Duration { .seconds(30) * looks.add(1, ordering: .relaxed).newValue }

    var isCurrent: Bool { timers.isCurrent }

    func schedule(_ work: @escaping @Sendable () -> Void) { timers.schedule(work) }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
        timers.schedule(after: delay, work)
    }
}
