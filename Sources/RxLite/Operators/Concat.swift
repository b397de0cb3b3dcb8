extension Observable {
    /// One stream after another, each started when the one before has finished.
    ///
    /// ```
    ///        --1--2|
    ///              -3--4|
    /// concat
    ///        --1--2-3--4|
    /// ```
    @inlinable
    public static func concat(_ streams: [Observable]) -> Observable {
        Observable<Observable, Failure>(scheduler: commonScheduler(of: streams)) { observer in
            Observable<Observable, Failure>.sequence(streams).subscribe(observer)
        }
        .flatMap(.concat) { $0 }
    }

    /// The scheduler of a combination of `streams`: that of the first stream that has one.
    @usableFromInline
    static func commonScheduler(of streams: [Observable]) -> (any Scheduler)? {
        streams.lazy.compactMap(\.scheduler).first
    }
}
