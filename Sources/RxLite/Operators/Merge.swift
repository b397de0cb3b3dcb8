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
