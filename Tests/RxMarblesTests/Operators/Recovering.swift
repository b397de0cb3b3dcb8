import RxLite

/// Operators that react to ends.
enum Recovering {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "catchError":
            let recover = try use.function(0)
            return source.catch { error in
                .deferred { () throws(RecordedError) in use.graph.input(try recover(error.value, .opaque)) }
            }
        case "retry":
            return try Retries.stream(source, use)
        case "retryWhen":
            let notices = try use.function(0)
            return source.retry(when: { _ in
                .deferred { () throws(RecordedError) in use.graph.input(try notices(.opaque)) }
            })
        case "repeat":
            return try repeated(source, use)
        case "repeatWhen":
            let notices = try use.function(0)
            return source.repeat(when: { _ in
                Stream.deferred { () throws(RecordedError) in use.graph.input(try notices(.opaque)) }
            })
        case "tap":
            return try tap(source, use)
        case "finalize":
            let finalize = try use.function(0)
            return source.finally {
                use.graph.ignoringErrors { () throws(RecordedError) in try finalize() }
            }
        case "pipe":
            return try use.rest().values.reduce(source) { stream, value in
                guard case .operation(let name, let arguments) = value else {
                    throw use.unsupported("\(value) is no operator")
                }
                return try Operator(name, arguments, in: use.graph).applied(to: stream)
            }
        default:
            return nil
        }
    }

    /// At once, after a time, or when a stream made of the number of runs sends; its end is the end.
    private static func repeated(_ source: Stream, _ use: Operator) throws -> Stream {
        var (given, delay) = (use[0], Value.undefined)
        if case .object = given {
            let options = try use.options(0, ["count", "delay"])
            (given, delay) = (options["count"], options["delay"])
        }
        let count = given == .undefined || given == .null ? .max : try use.number(given)
        guard case .function = delay else {
            let wait: Duration = delay == .undefined || delay == .null ? .zero : try use.duration(delay)
            return source.repeat(count, delay: wait, on: use.clock)
        }
        guard count > 0, let wait = try use.optionalFunction(delay) else { return .empty() }
        return source.repeat(when: { runs in
            runs.setFailureType(to: RecordedError.self).take(count - 1)
                .flatMap { run throws(RecordedError) in
                    use.graph.input(try wait(.number(run))).firstNotice
                }
                .take(while: { $0 })
        })
    }

    private static func tap(_ source: Stream, _ use: Operator) throws -> Stream {
        var parts: [String: CallTable] = [:]
        if case .object = use[0] {
            let names: Set = ["next", "error", "complete", "subscribe", "unsubscribe", "finalize"]
            let options = try use.options(0, names)
            for name in names { parts[name] = try use.optionalFunction(options[name]) }
        } else {
            for (index, name) in ["next", "error", "complete"].enumerated() {
                parts[name] = try use.optionalFunction(index)
            }
        }
        let graph = use.graph
        let call: @Sendable (String) -> Void = { [parts] name in
            graph.ignoringErrors { () throws(RecordedError) in try parts[name]?() }
        }
        let watched = source.map { [parts] value throws(RecordedError) in
            try parts["next"]?(value)
            return value
        }
        .handleEvents(
            onSubscribe: { call("subscribe") },
            onEnd: { [parts] completion in
                guard case .failed(let error) = completion else { return call("complete") }
                graph.ignoringErrors { () throws(RecordedError) in try parts["error"]?(error.value) }
            },
            onCancel: { call("unsubscribe") })
        return parts["finalize"] == nil ? watched : watched.finally { call("finalize") }
    }
}

extension Stream {
    /// `true` with the first value, `false` at an end without one.
    var firstNotice: Observable<Bool, RecordedError> {
        take(1).map { _ in true }.ifEmpty(default: false)
    }
}

extension Graph {
    /// Runs lambdas where RxLite accepts none that throw. None is recorded to throw there.
    func ignoringErrors(_ body: () throws(RecordedError) -> Void) {
        do throws(RecordedError) { try body() } catch {
            journal.note("\(error) was thrown where none can be")
        }
    }
}
