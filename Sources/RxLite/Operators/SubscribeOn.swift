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
    /// A stream that has no scheduler of its own lives on this one from here on; one that has keeps it.
    /// Joined into a stream that lives elsewhere (by `flatMap`, `merge` …) its events arrive there, with the
    /// buffer of ``observe(on:)`` between. Events of a hot source are missed until `scheduler` has run.
    public func subscribe(on scheduler: any Scheduler) -> Observable {
        let started = Observable(scheduler: scheduler) { [source] observer in
            scheduler.schedule { observer.scope.enter { source(observer) } }
        }
        return Observable(scheduler: self.scheduler ?? scheduler) { observer in
            let place = observer.scope.lane.scheduler
            let stream = place === scheduler ? started : started.observe(on: place ?? scheduler)
            stream.subscribe(observer)
        }
    }
}
