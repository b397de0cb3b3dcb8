public import FoundationEssentials
public import RxLite

/// A scheduler with a calendar, such as one with virtual time. Cookies, stored responses, credentials and
/// `Retry-After` on this scheduler use its dates.
public protocol DatedScheduler: Scheduler {
    /// The date that corresponds to `now`.
    var date: Date { get }
}

extension Scheduler {
    /// The current date of the scheduler if it is a ``DatedScheduler``, otherwise of the system.
    public var currentDate: Date { (self as? any DatedScheduler)?.date ?? Date() }
}
