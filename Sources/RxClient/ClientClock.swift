import FoundationEssentials
import RxHTTP
import RxLite
import Synchronization

/// The time of something that clients share: a session, a jar, a cache. Where it was given no clock it goes by the
/// virtual time of the first client that has it, if that has such, and otherwise by the system's.
final class ClientClock: Sendable {
    private struct Contents {
        var scheduler: (any Scheduler)?
        var dated: (any DatedScheduler)?
    }

    private let contents: Mutex<Contents>
    private let givenDate: (@Sendable () -> Date)?

    init(_ scheduler: (any Scheduler)?, _ currentDate: (@Sendable () -> Date)?) {
        contents = Mutex(Contents(scheduler: scheduler, dated: scheduler as? any DatedScheduler))
        givenDate = currentDate
    }

    /// Takes over a client's time. Of schedulers without a date of their own none is better than another, and so none
    /// is kept.
    func adopt(_ scheduler: any Scheduler) {
        guard let dated = scheduler as? any DatedScheduler else { return }
        contents.withLock { contents in
            guard contents.scheduler == nil else { return }
            contents = Contents(scheduler: dated, dated: dated)
        }
    }

    var scheduler: any Scheduler { contents.withLock { $0.scheduler } ?? ActorScheduler.shared }

    var date: Date {
        if let givenDate { return givenDate() }
        return contents.withLock { $0.dated }?.date ?? Date()
    }
}
