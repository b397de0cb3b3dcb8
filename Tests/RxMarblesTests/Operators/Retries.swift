import RxLite

/// New attempts after an error: at once, after a time, or when a stream made of it sends.
enum Retries {
    static func stream(_ source: Stream, _ use: Operator) throws -> Stream {
        var (given, delay, resets) = (use[0], Value.undefined, false)
        if case .object = given {
            let options = try use.options(0, ["count", "delay", "resetOnSuccess"])
            (given, delay) = (options["count"], options["delay"])
            resets = options["resetOnSuccess"].isTrue
        }
        let count = given == .undefined || given == .null ? .max : try use.number(given)
        guard count > 0 else { return source }
        let wait = try retrying(use, delay)
        return .deferred { [resets] in
            let failures = MutableProperty(0)
            let attempt = resets ? source.handleEvents(onNext: { _ in failures.value = 0 }) : source
            return wait(attempt) {
                failures.update { $0 += 1 }
                return failures.value <= count ? failures.value : nil
            }
        }
    }

    /// Counts a failure, and returns its number; `nil` if there have been too many.
    private typealias Counter = @Sendable () -> Int?

    private static func retrying(
        _ use: Operator, _ delay: Value
    ) throws -> @Sendable (Stream, @escaping Counter) -> Stream {
        guard case .function = delay, let make = try use.optionalFunction(delay) else {
            let wait: Duration = delay == .undefined || delay == .null ? .zero : try use.duration(delay)
            let clock = use.clock
            return { source, count in
                source.retry(
                    RetryPolicy { _, _ in count() == nil ? nil : wait }, on: clock)
            }
        }
        return { source, count in
            source.retry(when: { errors in
                errors.setFailureType(to: RecordedError.self)
                    .flatMap { error throws(RecordedError) in
                        guard let number = count() else { throw error }
                        return use.graph.input(try make(error.value, .number(number))).firstNotice
                    }
                    .take(while: { $0 })
            })
        }
    }
}
