extension Observable {
    /// Each value as a success, and an error as a failure, after which the stream finishes. It never fails.
    ///
    /// ```
    ///            --1----------2--------#
    /// asResult()
    ///            --success(1)-success(2)-(failure(#)|)
    /// ```
    @inlinable
    public func asResult() -> Observable<Result<Element, Failure>, Never> {
        lift { observer in
            let scope = observer.scope.child()
            return Observer(
                scope: scope, next: { observer.next(.success($0)) },
                end: { completion in
                    scope.close()
                    switch completion {
                    case .finished: observer.finish()
                    case .failed(let error): observer.finish(with: .failure(error))
                    }
                })
        }
    }
}
