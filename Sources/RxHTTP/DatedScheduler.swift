public import FoundationEssentials
public import RxLite

/// A scheduler that has a calendar of its own, as one with virtual time does. What compares dates on its behalf (cookies,
/// stored responses, credentials, `Retry-After`) goes by that.
public protocol DatedScheduler: Scheduler {
    /// The date that belongs to `now`.
    var date: Date { get }
}

extension Scheduler {
    /// The date by this scheduler: its own where it is a ``DatedScheduler``, otherwise the system's.
    public var currentDate: Date { (self as? any DatedScheduler)?.date ?? Date() }
}
