import RxLite

/// Operators that share one run among several subscribers.
enum Sharing {
    @Sendable static func stream(_ use: Operator, _ source: Stream) throws -> Stream? {
        switch use.name {
        case "share": try share(source, use)
        case "shareReplay": try shareReplay(source, use)
        default: nil
        }
    }

    /// By default starts anew in all three cases: at once, not at all, or when a stream sends.
    private static func share(_ source: Stream, _ use: Operator) throws -> Stream {
        let options = try use.options(0, ["resetOnError", "resetOnComplete", "resetOnRefCountZero"])
        var reset: ShareReset = .always
        var notices: [String: CallTable] = [:]
        let cases: [(String, ShareReset)] = [
            ("resetOnError", .failed), ("resetOnComplete", .finished), ("resetOnRefCountZero", .unused),
        ]
        for (member, occasion) in cases {
            switch options[member] {
            case .undefined, true: break
            case false: reset.remove(occasion)
            case let notifier: notices[member] = try use.optionalFunction(notifier)
            }
        }
        guard !notices.isEmpty else { return source.share(reset: reset) }
        return source.share(
            reset: reset,
            when: { [notices] end in
                switch end {
                case nil: notice(notices["resetOnRefCountZero"], [], use)
                case .finished: notice(notices["resetOnComplete"], [], use)
                case .failed(let error): notice(notices["resetOnError"], [error.value], use)
                }
            })
    }

    /// Sends at once unless a function returns a notifier.
    private static func notice(
        _ make: CallTable?, _ arguments: [Value], _ use: Operator
    ) -> Observable<Value, Never> {
        guard let make else { return .just(.undefined) }
        var notifier = Value.undefined
        use.graph.ignoringErrors { () throws(RecordedError) in notifier = try make.call(arguments) }
        return use.graph.input(notifier).catch { error in
            use.graph.journal.note("a notifier of share failed with \(error)")
            return .empty()
        }
    }

    /// Keeps its run after the source has finished, and continues without subscribers by default.
    private static func shareReplay(_ source: Stream, _ use: Operator) throws -> Stream {
        var (size, window, refCount) = (use[0], use[1], false)
        try use.scheduler(2)
        if case .object = size {
            let options = try use.options(0, ["bufferSize", "windowTime", "refCount", "scheduler"])
            (size, window) = (options["bufferSize"], options["windowTime"])
            refCount = options["refCount"].isTrue
        }
        guard window == .undefined || window == .null || window == .number(.infinity) else {
            throw use.unsupported("values are replayed by number, not by age")
        }
        return source.share(
            replay: size == .undefined || size == .null ? .max : try use.number(size),
            reset: refCount ? [.failed, .unused] : [.failed])
    }
}
