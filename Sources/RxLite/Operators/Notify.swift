extension Observable {
    /// Runs this stream beside the source of an operator. `receive` gets its values and the scope it runs in.
    /// Its error closes `scope` and ends the operator's stream; its end changes nothing.
    @inlinable
    func notify<T>(
        _ observer: Observer<T, Failure>, in scope: Scope,
        _ receive: @escaping @Sendable (Element, Scope) -> Void
    ) {
        let ownScope = scope.child()
        subscribe(
            Observer(
                scope: ownScope, next: { receive($0, ownScope) },
                end: { completion in
                    guard case .failed = completion else { return ownScope.close() }
                    scope.close()
                    observer.end(completion)
                }))
    }
}
