import RxLite

/// Operators that depend on time alone.
enum Timing {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        let clock = use.clock
        switch use.name {
        case "delay":
            try use.scheduler(1)
            let wait = try use.wait(use[0])
            // Each value separately: in RxJS the end waits for values only, not for its own time.
            return source.flatMap { value in Stream.just(value).delay(wait(), on: clock) }
        case "delayWhen":
            return try delayWhen(source, use)
        case "timeout", "timeoutWith":
            return try Limiting.stream(source, use)
        case "observeOn":
            try use.scheduler(0)
            let moved = source.observe(on: clock)
            guard use[1] != .undefined else { return moved }
            // An error, too, comes later in RxJS.
            return moved.materialize().delay(try use.duration(1), on: clock)
                .setFailureType(to: RecordedError.self).dematerialize()
        case "subscribeOn":
            try use.scheduler(0)
            guard use[1] != .undefined else { return source.subscribe(on: clock) }
            let wait = try use.wait(use[1])
            return .deferred {
                Observable<Void, RecordedError>.timer(wait(), on: clock).flatMap { source }
            }
        case "sample":
            return source.sample(by: try use.input(0))
        case "sampleTime":
            try use.scheduler(1)
            return source.sample(every: try use.duration(0), on: clock)
        case "debounceTime":
            try use.scheduler(1)
            return source.debounce(try use.duration(0), on: clock)
        case "throttleTime":
            try use.scheduler(1)
            let options = try use.options(2, ["leading", "trailing"])
            return source.throttle(
                try use.duration(0), on: clock,
                leading: options["leading"] == .undefined || options["leading"].isTrue,
                trailing: options["trailing"].isTrue)
        default:
            return nil
        }
    }

    private static func delayWhen(_ source: Stream, _ use: Operator) throws -> Stream {
        let wait = try use.function(0)
        let delayed = source.numbered().flatMap { numbered throws(RecordedError) in
            use.graph.input(try wait(numbered.value, numbered.index)).take(1).map { _ in numbered.value }
        }
        guard use[1] != .undefined else { return delayed }
        return .concat([try use.input(1).take(1).ignoreElements(as: Value.self), delayed])
    }
}
