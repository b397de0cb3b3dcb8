extension Observable {
    /// The same events, from a source that is started on `scheduler` instead of within `subscribe`.
    ///
    /// ```
    ///                          --1--2--|
    /// subscribe(on: elsewhere)
    ///                          ---1--2--|     begun when elsewhere had time
    /// ```
    ///
    /// For sources that work, or block, during the subscription:
    ///
    /// ```swift
    /// query.flatMap(.latest) { words in index.matches(words).subscribe(on: background) }
    /// ```
    ///
    /// A stream without a scheduler runs on this one from here on; a stream with a scheduler keeps it. Events
    /// that a hot source sends before `scheduler` has run are missed.
    public func subscribe(on scheduler: any Scheduler) -> Observable {
        guard self.scheduler == nil || self.scheduler === scheduler else {
            return Observable(scheduler: self.scheduler) { observer in
                Relay(self, to: observer, .brief, pausesAtOnce: true).start(on: scheduler)
            }
        }
        return Observable(scheduler: scheduler) { [source] observer in
            let cause = StreamCause.ifAttached
            scheduler.schedule {
                observer.scope.enter { StreamCause.restore(cause) { source(observer) } }
            }
        }
    }
}
