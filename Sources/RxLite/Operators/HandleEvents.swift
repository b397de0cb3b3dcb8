extension Observable {
    /// Calls closures for events; the events are unchanged.
    ///
    /// ```
    ///                        --1--2--|
    /// handleEvents(onNext: …)
    ///                        --1--2--|     called with 1, with 2
    /// ```
    ///
    /// - Parameters:
    ///   - onSubscribe: called before the source starts.
    ///   - onNext: called before each value is passed on.
    ///   - onEnd: called before the end is passed on.
    ///   - onCancel: called if the stream is cancelled before its end.
    @inlinable
    public func handleEvents(
        onSubscribe: @escaping @Sendable () -> Void = {},
        onNext: @escaping @Sendable (Element) -> Void = { _ in },
        onEnd: @escaping @Sendable (Completion<Failure>) -> Void = { _ in },
        onCancel: @escaping @Sendable () -> Void = {}
    ) -> Observable {
        lift { observer in
            let hasEnded = Confined(false, in: observer.scope.lane)
            let scope = observer.scope.child()
            scope.onClose { if !hasEnded.value { onCancel() } }
            onSubscribe()
            return Observer(
                scope: scope, target: Downstream(observer),
                receive: { value, link in
                    onNext(value)
                    unsafe unsafeDowncast(link, to: Downstream<Element, Failure>.self).observer.next(value)
                },
                end: { completion in
                    hasEnded.value = true
                    scope.close()
                    onEnd(completion)
                    observer.end(completion)
                })
        }
    }
}
