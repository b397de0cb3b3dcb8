extension Observable {
    /// The values as long as they satisfy `predicate`. The first that does not stops the source and ends the
    /// stream; so does a thrown error.
    ///
    /// ```
    ///                       --1--2--3--1--|
    /// take(while: { $0 < 3 })
    ///                       --1--2--|
    /// ```
    ///
    /// - Parameter inclusive: whether the value that does not satisfy `predicate` is also sent. Default
    ///   `false`.
    @inlinable
    @_disfavoredOverload
    public func take(
        while predicate: @escaping @Sendable (Element) throws(Failure) -> Bool, inclusive: Bool = false
    ) -> Observable {
        lift { observer in
            let scope = observer.scope.child()
            return Observer(
                scope: scope,
                next: { value in
                    do throws(Failure) {
                        if try predicate(value) { return observer.next(value) }
                    } catch {
                        scope.close()
                        return observer.fail(error)
                    }
                    scope.close()
                    if inclusive { observer.finish(with: value) } else { observer.finish() }
                },
                end: { completion in
                    scope.close()
                    observer.end(completion)
                })
        }
    }

    /// The values as long as they satisfy a closure that throws nothing.
    @inlinable
    public func take(
        while predicate: @escaping @Sendable (Element) -> Bool, inclusive: Bool = false
    ) -> Observable {
        take(while: predicate as @Sendable (Element) throws(Failure) -> Bool, inclusive: inclusive)
    }
}
