extension Observable {
    /// A stream from code with callbacks: `start` begins the work and keeps the emitter.
    ///
    /// ```
    /// create
    ///        --1-----2---|     when send(1), send(2), finish() are called
    /// ```
    ///
    /// ```swift
    /// let ticks = Observable<Int, Never>.create { emitter in
    ///     let source = TickSource { emitter.send($0) }
    ///     emitter.onClose { source.stop() }
    /// }
    /// ```
    ///
    /// `start` runs once for each subscription, after the subscription is set up, on the subscribing thread.
    @inlinable
    public static func create(
        _ start: @escaping @Sendable (Emitter<Element, Failure>) -> Void
    ) -> Observable {
        Observable { observer in Emitter(observer).begin(start) }
    }
}
