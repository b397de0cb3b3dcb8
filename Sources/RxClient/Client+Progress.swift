public import RxHTTP
public import RxLite

extension Client {
    /// A request with its progress in both directions, and then its typed result. It goes through the same stages
    /// as ``request(_:)``.
    ///
    /// ```swift
    /// client.progress(of: .put("/photo", .file(path))).subscribe(onNext: { event in
    ///     switch event {
    ///     case .uploaded(let progress): bar.show(progress.fraction)
    ///     case .downloaded: break
    ///     case .answered(let answer): show(answer.response.status)
    ///     }
    /// })
    /// ```
    ///
    /// There are at most 20 values a second in each direction, and always the last one. An attempt that is repeated,
    /// after a failure or a new login, counts from the start again.
    public func progress<E: Endpoint>(of endpoint: E) -> Observable<ProgressEvent<E.Output>, NetworkError> {
        Observable(scheduler: scheduler) { observer in
            let tell: @Sendable (ProgressEvent<E.Output>) -> Void = { event in
                if observer.scope.isOpen { observer.next(event) }
            }
            self.answer(
                endpoint, through: .all.subtracting(.hedging),
                watching: { events in
                    events.reporting {
                        tell(.uploaded($0))
                    } download: {
                        tell(.downloaded($0))
                    }
                }, as: { .answered($0) }
            )
            .subscribe(observer)
        }
    }
}
