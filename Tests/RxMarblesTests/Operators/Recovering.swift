import RxLite

/// What deals with ends and with several subscribers.
enum Recovering {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "catchError":
            let recover = try use.function(0)
            return source.catch { error in
                .deferred { () throws(RecordedError) in use.graph.input(try recover(error.value, .opaque)) }
            }
        case "retry":
            return try retry(source, use)
        case "retryWhen":
            let notices = try use.function(0)
            return source.retry(when: { _ in
                .deferred { () throws(RecordedError) in use.graph.input(try notices(.opaque)) }
            })
        case "repeat":
            return try repeated(source, use)
        case "dematerialize":
            return source.map(StreamEvent.init).dematerialize()
        case "tap":
            return tap(source, use)
        case "finalize":
            let finalize = try use.function(0)
            return source.finally {
                use.graph.ignoringErrors { () throws(RecordedError) in try finalize() }
            }
        case "share":
            return source.share(reset: try reset(use))
        case "shareReplay":
            return try shareReplay(source, use)
        case "pipe":
            guard case .operation(let name, let arguments) = use[0] else {
                throw use.unsupported("no operator")
            }
            return try Operator(name, arguments, in: use.graph).applied(to: source)
        default:
            return nil
        }
    }

    /// At once, after a time, or when a stream made of each error sends.
    private static func retry(_ source: Stream, _ use: Operator) throws -> Stream {
        guard case .object = use[0] else {
            return source.retry(use[0] == .undefined ? .max : try use.number(0))
        }
        guard use[0]["count"] == .undefined else { throw use.unsupported("a count and a delay are a policy") }
        guard let wait = use.lambda(use[0]["delay"]) else {
            let delay = try use.duration(use[0]["delay"])
            return source.retry(RetryPolicy { _, _ in .retry(after: delay) }, on: use.clock)
        }
        return source.retry(when: { errors in
            errors.setFailureType(to: RecordedError.self).scan((0, RecordedError.empty)) { ($0.0 + 1, $1) }
                .flatMap { count, error throws(RecordedError) in
                    use.graph.input(try wait(error.value, .number(count))).take(1)
                }
        })
    }

    private static func repeated(_ source: Stream, _ use: Operator) throws -> Stream {
        let count = if case .object = use[0] { use[0]["count"] } else { use[0] }
        let delay = use[0]["delay"]
        if use.lambda(delay) != nil { throw use.unsupported("repeat waits for a time, not for a stream") }
        return source.repeat(
            count == .undefined ? .max : try use.number(count),
            delay: delay == .undefined ? .zero : try use.duration(delay), on: use.clock)
    }

    private static func tap(_ source: Stream, _ use: Operator) -> Stream {
        let next = use.lambda(use[0]) ?? use.lambda(use[0]["next"])
        let failure = use.lambda(use[0]["error"])
        let finish = use.lambda(use[0]["complete"])
        return source.map { value throws(RecordedError) in
            try next?(value)
            return value
        }
        .handleEvents(onEnd: { completion in
            use.graph.ignoringErrors { () throws(RecordedError) in
                switch completion {
                case .finished: try finish?()
                case .failed(let error): try failure?(error.value)
                }
            }
        })
    }

    /// When a shared stream begins anew: in all three cases, if nothing else is said.
    private static func reset(_ use: Operator) throws -> ShareReset {
        var reset: ShareReset = .always
        let cases: [(String, ShareReset)] = [
            ("resetOnError", .failed), ("resetOnComplete", .finished), ("resetOnRefCountZero", .unused),
        ]
        for (member, occasion) in cases {
            switch use[0][member] {
            case .undefined, true: break
            case false: reset.remove(occasion)
            default:
                throw use.unsupported(
                    "a shared stream begins anew by its ends and users, not by another stream")
            }
        }
        return reset
    }

    /// Keeps its run after the source has finished, and runs on without subscribers unless told otherwise.
    private static func shareReplay(_ source: Stream, _ use: Operator) throws -> Stream {
        let size: Value = if case .object = use[0] { use[0]["bufferSize"] } else { use[0] }
        return source.share(
            replay: size == .undefined ? .max : try use.number(size),
            reset: use[0]["refCount"].isTrue ? [.failed, .unused] : [.failed])
    }
}

extension Graph {
    /// Runs lambdas where RxLite takes none that throw. None is recorded to throw there.
    func ignoringErrors(_ body: () throws(RecordedError) -> Void) {
        do throws(RecordedError) { try body() } catch {
            journal.note("\(error) was thrown where none can be")
        }
    }
}
