extension Observable {
    /// One stream after another, each started when the one before has ended well.
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

    /// The scheduler that a combination of `streams` delivers on: that of the first which has one.
    @usableFromInline
    static func commonScheduler(of streams: [Observable]) -> (any Scheduler)? {
        streams.lazy.compactMap(\.scheduler).first
    }
}
