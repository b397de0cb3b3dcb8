public import RxLite

extension Observable where Failure == NetworkError {
    /// Starts the stream. What has been cancelled by its client calls nobody back: of an end with
    /// ``NetworkError/Code/cancelled`` nothing is told.
    ///
    /// - Parameters:
    ///   - onNext: takes each value.
    ///   - onFailure: takes the error, if the stream ends with one.
    ///   - onFinish: called if the stream ends well.
    @discardableResult
    public func subscribe(
        onNext: @escaping @Sendable (Element) -> Void = { _ in },
        onFailure: @escaping @Sendable (NetworkError) -> Void = { _ in },
        onFinish: @escaping @Sendable () -> Void = {}
    ) -> Subscription {
        subscribe(onNext: onNext) { completion in
            switch completion {
            case .finished: onFinish()
            case .failed(let error): onFailure(error)
            }
        }
    }

    /// The same with one callback for both kinds of end.
    @discardableResult
    public func subscribe(
        onNext: @escaping @Sendable (Element) -> Void,
        onEnd: @escaping @Sendable (Completion<NetworkError>) -> Void
    ) -> Subscription {
        start(self, onNext) { completion in
            if case .failed(let error) = completion, error.code == .cancelled { return }
            onEnd(completion)
        }
    }
}

/// What streams of any failure do.
private func start<Element, Failure>(
    _ stream: Observable<Element, Failure>, _ onNext: @escaping @Sendable (Element) -> Void,
    _ onEnd: @escaping @Sendable (Completion<Failure>) -> Void
) -> Subscription {
    stream.subscribe(onNext: onNext, onEnd: onEnd)
}
