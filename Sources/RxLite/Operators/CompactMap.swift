extension Observable {
    /// Each value, transformed, without those that become `nil`. A thrown error ends the stream.
    @inlinable
    public func compactMap<T: Sendable>(
        _ transform: @escaping @Sendable (Element) throws(Failure) -> T?
    ) -> Observable<T, Failure> {
        lift { observer in
            Observer(
                scope: observer.scope,
                next: { value in
                    do throws(Failure) {
                        if let value = try transform(value) { observer.next(value) }
                    } catch {
                        observer.fail(error)
                    }
                },
                end: observer.end)
        }
    }
}
