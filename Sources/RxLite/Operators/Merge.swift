extension Observable {
    /// The values of all `streams` as they arrive; ends when all have ended, or with the first error.
    ///
    /// ```
    ///       --1-----3--|
    ///       ----2------4--|
    /// merge
    ///       --1-2---3--4--|
    /// ```
    @inlinable
    public static func merge(_ streams: Observable...) -> Observable {
        merge(streams)
    }

    /// The values of all `streams` as they arrive; ends when all have ended, or with the first error.
    @inlinable
    public static func merge(_ streams: [Observable]) -> Observable {
        Observable<Observable, Failure>(scheduler: commonScheduler(of: streams)) { observer in
            Observable<Observable, Failure>.sequence(streams).subscribe(observer)
        }
        .flatMap { $0 }
    }

    /// These values and those of `other`, as they arrive.
    @inlinable
    public func merge(with other: Observable) -> Observable {
        .merge([self, other])
    }
}

extension Observable {
    /// The values of a stream that cannot fail and of one that can, as they arrive.
    @inlinable
    @_disfavoredOverload
    public static func merge<Other: ObservableConvertible>(
        _ one: Other, _ other: Observable
    ) -> Observable where Other.Element == Element, Other.Failure == Never {
        merge(one.observable.setFailureType(to: Failure.self), other)
    }

    /// The values of a stream that can fail and of one that cannot, as they arrive.
    @inlinable
    @_disfavoredOverload
    public static func merge<Other: ObservableConvertible>(
        _ one: Observable, _ other: Other
    ) -> Observable where Other.Element == Element, Other.Failure == Never {
        merge(one, other.observable.setFailureType(to: Failure.self))
    }

    /// These values and those of a stream that cannot fail, as they arrive.
    @inlinable
    @_disfavoredOverload
    public func merge<Other: ObservableConvertible>(
        with other: Other
    ) -> Observable where Other.Element == Element, Other.Failure == Never {
        .merge(self, other.observable.setFailureType(to: Failure.self))
    }
}

extension Observable where Failure == Never {
    /// These values and those of a stream that can fail, as they arrive.
    @inlinable
    @_disfavoredOverload
    public func merge<E>(with other: Observable<Element, E>) -> Observable<Element, E> {
        .merge(setFailureType(to: E.self), other)
    }

    /// The values of signals, properties and other streams that cannot fail, as they arrive.
    @inlinable
    @_disfavoredOverload
    public static func merge(_ streams: any ObservableConvertible<Element, Never>...) -> Observable {
        merge(streams.map { $0.observable })
    }
}
