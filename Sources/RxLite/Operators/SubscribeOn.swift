extension Observable {
    /// The same events, from a source that is started on `scheduler`, and not within `subscribe`.
    ///
    /// ```
    ///                          --1--2--|
    /// subscribe(on: elsewhere)
    ///                          ---1--2--|     begun when elsewhere had time
    /// ```
    ///
    /// For sources that work, or wait, while they are being subscribed to:
    ///
    /// ```swift
    /// query.flatMap(.latest) { words in index.matches(words).subscribe(on: background) }
    /// ```
    ///
    /// A stream without a scheduler runs on this one from here on; a stream with a scheduler keeps it. Events of a hot
    /// source are missed until `scheduler` has run.
    public func subscribe(on scheduler: any Scheduler) -> Observable {
        guard self.scheduler == nil || self.scheduler === scheduler else {
            return Observable(scheduler: self.scheduler) { observer in
                Relay(self, to: observer, .brief, pausesAtOnce: true).start(on: scheduler)
            }
        }
        return Observable(scheduler: scheduler) { [source] observer in
            scheduler.schedule { observer.scope.enter { source(observer) } }
        }
    }
}
