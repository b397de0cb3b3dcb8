extension Observable {
    /// Prints one line for each event, with time, label, number of the subscription and count; the events are
    /// unchanged.
    ///
    /// ```
    ///              --1--2--|
    /// debug("tea")
    ///              --1--2--|     four lines, with "subscribed"
    /// ```
    ///
    /// ```
    /// 0.000 s  tea #1 subscribed
    /// 0.124 s  tea #1 value 1: Oolong
    /// 0.310 s  tea #1 failed after 1 value: timed out
    /// ```
    ///
    /// Subscriptions count from 1, separately for each call of `debug`. A line break in a value or an error
    /// is written as `\n`.
    ///
    /// - Parameters:
    ///   - label: the beginning of the text of each line.
    ///   - scheduler: the clock. Default: the stream's scheduler, otherwise ``ActorScheduler/shared``.
    ///   - sink: receives the lines, wherever the events arrive. Default: prints them.
    public func debug(
        _ label: String, on scheduler: (any Scheduler)? = nil,
        to sink: @escaping @Sendable (String) -> Void = { print($0) }
    ) -> Observable {
        let clock = scheduler ?? self.scheduler ?? ActorScheduler.shared
        let subscriptions = SubscriptionCount()
        return Observable(scheduler: self.scheduler) { observer in
            let name = "\(label) #\(subscriptions.next())"
            let count = Confined(0, in: observer.scope.lane)
            let log: @Sendable (String) -> Void = { event in
                sink("\(seconds(clock.now)) s  \(name) \(event.onOneLine)")
            }
            self.handleEvents(
                onSubscribe: { log("subscribed") },
                onNext: { value in
                    count.value += 1
                    log("value \(count.value): \(value)")
                },
                onEnd: { completion in
                    switch completion {
                    case .finished: log("finished after \(counted(count.value))")
                    case .failed(let error): log("failed after \(counted(count.value)): \(error)")
                    }
                },
                onCancel: { log("cancelled after \(counted(count.value))") }
            ).subscribe(observer)
        }
    }
}

private func counted(_ count: Int) -> String { count == 1 ? "1 value" : "\(count) values" }

/// The seconds, with three decimals.
private func seconds(_ time: Duration) -> String {
    let (seconds, attoseconds) = time.components
    let thousandths = attoseconds / 1_000_000_000_000_000
    return "\(seconds).\(String(1000 + thousandths).dropFirst())"
}

extension String {
    fileprivate var onOneLine: String {
        contains(where: \.isNewline)
            ? String(flatMap { $0.isNewline ? "\\n" : String($0) }) : self
    }
}
