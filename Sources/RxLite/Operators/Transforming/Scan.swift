extension Observable {
    /// The running result of combining each value with the earlier ones; starts with `initial` for each subscription. A
    /// thrown error ends the stream.
    ///
    /// ```
    ///           --1--2--3--|
    /// scan(0, +)
    ///           --1--3--6--|
    /// ```
    @inlinable
    @_disfavoredOverload
    public func scan<Result: Sendable>(
        _ initial: Result,
        _ combine: @escaping @Sendable (Result, Element) throws(Failure) -> Result
    ) -> Observable<Result, Failure> {
        Observable<Result, Failure>(scheduler: scheduler) { [source] observer in
            source(
                Observer(
                    scope: observer.scope, target: Accumulation(initial, into: observer),
                    receive: { value, target in
                        let accumulation = unsafe unsafeDowncast(
                            target, to: Accumulation<Result, Failure>.self)
                        do throws(Failure) {
                            let result = try combine(accumulation.result, value)
                            accumulation.result = result
                            accumulation.observer.next(result)
                        } catch {
                            accumulation.observer.fail(error)
                        }
                    },
                    end: observer.end))
        }
    }

    /// The running result of a closure that throws nothing.
    @inlinable
    public func scan<Result: Sendable>(
        _ initial: Result, _ combine: @escaping @Sendable (Result, Element) -> Result
    ) -> Observable<Result, Failure> {
        scan(initial, combine as @Sendable (Result, Element) throws(Failure) -> Result)
    }

    /// The running result of a closure that throws errors of any type.
    @inlinable
    @_disfavoredOverload
    public func scan<Result: Sendable>(
        _ initial: Result, _ combine: @escaping @Sendable (Result, Element) throws -> Result
    ) -> Observable<Result, any Error> {
        mapError { $0 }.scan(initial, combine)
    }
}

/// The result of one running scan so far.
@usableFromInline
final class Accumulation<Result: Sendable, Failure: Error>: @unchecked Sendable {
    // Unchecked, without exclusivity checks: accessed only from inside the subscription's lane, which is
    // serial.
    @safe @exclusivity(unchecked) @usableFromInline var result: Result
    @usableFromInline let observer: Observer<Result, Failure>

    @inlinable
    init(_ initial: Result, into observer: Observer<Result, Failure>) {
        result = initial
        self.observer = observer
    }
}
