public import FoundationEssentials
public import RxLite

/// A scheduler with its own calendar, such as one with virtual time. Cookies, stored responses, credentials and
/// `Retry-After` on it use these dates.
public protocol DatedScheduler: Scheduler {
    /// The date that belongs to `now`.
    var date: Date { get }
}

extension Scheduler {
    /// The date by this scheduler: its own where it is a ``DatedScheduler``, otherwise the system's.
    public var currentDate: Date { (self as? any DatedScheduler)?.date ?? Date() }
}
