#if Outbox && Logging
public import Logging
public import RxLite

extension Observable where Element == OutboxEvent, Failure == Never {
    /// Writes the events to a log, until the subscription is cancelled: deliveries as `info`, attempts as `debug`, failed
    /// attempts as `notice`, dead letters and failures of the store as `warning`. Neither the content of requests nor the
    /// text of servers is written.
    ///
    /// ```swift
    /// outbox.events.log(to: Logger(label: "outbox"))
    /// ```
    @discardableResult
    public func log(to logger: Logger) -> Subscription {
        subscribe(onNext: { event in
            let (level, metadata) = (event.level, event.metadata)
            logger.log(level: level, "\(event)", metadata: metadata)
        })
    }
}

extension OutboxEvent {
    fileprivate var level: Logger.Level {
        switch self {
        case .enqueued, .sending, .replaced: .debug
        case .delivered, .role: .info
        case .waiting: .notice
        case .died, .storeFailed: .warning
        }
    }

    /// The keys are named in `OperatingAnOutbox.md`.
    fileprivate var metadata: Logger.Metadata? {
        switch self {
        case .enqueued(let entry), .sending(let entry), .waiting(let entry), .delivered(let entry, _),
            .died(let entry):
            ["outbox.entry": "\(entry.id)", "outbox.endpoint": "\(entry.name)"]
        case .replaced(let id): ["outbox.entry": "\(id)"]
        case .role, .storeFailed: nil
        }
    }
}
#endif
