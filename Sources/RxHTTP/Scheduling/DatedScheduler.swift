public import FoundationEssentials
public import RxLite
import Synchronization

/// A scheduler with a calendar, such as one with virtual time. Cookies, stored responses, credentials and
/// `Retry-After` on this scheduler use its dates.
package protocol DatedScheduler: Scheduler {
    /// The date that corresponds to `now`.
    var date: Date { get }
}

extension Scheduler {
    /// The current date: the virtual one of a scheduler with virtual time, otherwise the system's.
    public var currentDate: Date { (self as? any DatedScheduler)?.date ?? Date() }
}

/// The time of an object that several clients may share: a session, a jar, a cache. Without its own clock it takes the
/// virtual time of the first of them, if that has such, and otherwise the system's.
package final class SharedClock: Sendable {
    private struct Contents {
        var scheduler: (any Scheduler)?
        var dated: (any DatedScheduler)?
    }

    private let contents: Mutex<Contents>
    private let givenDate: (@Sendable () -> Date)?

    package init(_ scheduler: (any Scheduler)?, _ currentDate: (@Sendable () -> Date)? = nil) {
        contents = Mutex(Contents(scheduler: scheduler, dated: scheduler as? any DatedScheduler))
        givenDate = currentDate
    }

    /// Adopts the time of `scheduler`. Schedulers without a date are equivalent, and so none is kept.
    package func setIfUnset(_ scheduler: any Scheduler) {
        guard let dated = scheduler as? any DatedScheduler else { return }
        contents.withLock { contents in
            guard contents.scheduler == nil else { return }
            contents = Contents(scheduler: dated, dated: dated)
        }
    }

    package var scheduler: any Scheduler { contents.withLock { $0.scheduler } ?? ActorScheduler.shared }

    package var date: Date {
        if let givenDate { return givenDate() }
        return contents.withLock { $0.dated }?.date ?? Date()
    }
}
