extension Observable {
    /// The values in lists. Each value of `notifier` closes a list, empty or not, and begins the next.
    /// Remaining values are delivered with the end, and dropped at an error. An end of `notifier` changes
    /// nothing; its error ends the stream.
    ///
    /// ```
    ///             -1-2-----3-|
    /// buffer(by:  ----x---x--)
    ///             ----A---B--(C|)     A = 1,2   B = none   C = 3
    /// ```
    ///
    /// ```swift
    /// changes.buffer(by: save)
    /// ```
    ///
    /// The source is started first. A source that sends and ends at once makes a single list.
    @inlinable
    public func buffer<Notice>(
        by notifier: Observable<Notice, Failure>
    ) -> Observable<[Element], Failure> {
        Observable<[Element], Failure>(scheduler: scheduler) { [source] observer in
            let list = Confined<[Element]>([], in: observer.scope.lane)
            let scope = observer.scope.child()
            observer.scope.onClose { list.value = [] }
            @Sendable func deliver() {
                let full = list.value
                list.value = []
                observer.next(full)
            }
            source(
                Observer(
                    scope: scope.child(), next: { list.value.append($0) },
                    end: { completion in
                        scope.close()
                        if case .finished = completion { deliver() }
                        if observer.scope.isOpen { observer.end(completion) }
                    }))
            guard scope.isOpen else { return }
            notifier.notify(observer, in: scope) { _, _ in deliver() }
        }
    }

    /// The values in lists that a signal, or another stream that cannot fail, closes.
    @inlinable
    @_disfavoredOverload
    public func buffer<Notifier: ObservableConvertible>(
        by notifier: Notifier
    ) -> Observable<[Element], Failure> where Notifier.Failure == Never {
        buffer(by: notifier.observable.setFailureType())
    }
}
