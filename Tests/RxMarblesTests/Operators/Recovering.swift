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
            if case .object = use[0] { throw use.unsupported("with a delay it is retry(when:)") }
            return source.retry(use[0] == .undefined ? .max : try use.number(0))
        case "tap":
            return tap(source, use)
        case "finalize":
            let finalize = try use.function(0)
            return source.handleEvents(
                onEnd: { _ in use.graph.ignoringErrors { () throws(RecordedError) in try finalize() } },
                onCancel: { use.graph.ignoringErrors { () throws(RecordedError) in try finalize() } })
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
            default: throw use.unsupported("what resets it is not a stream")
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
