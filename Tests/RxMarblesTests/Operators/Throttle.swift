import RxLite

/// Windows that streams made of values keep open: the first value of each is sent at once (`leading`), the
/// last when it closes (`trailing`).
struct Throttle: Sendable {
    private let wait: CallTable
    private let leading: Bool
    private let trailing: Bool
    private let graph: Graph

    init(_ use: Operator) throws {
        wait = try use.function(0)
        let options = try use.options(1, ["leading", "trailing"])
        leading = options["leading"] == .undefined || options["leading"].isTrue
        trailing = options["trailing"].isTrue
        graph = use.graph
    }

    func stream(of source: Stream) -> Stream {
        source.withEnd { values, end in
            let state = MutableProperty(Pending())
            let windows = values.handleEvents(onNext: { value in state.update { $0.value = value } })
                .flatMap(.first) { value in
                    leading ? sent(from: state) : window(opened: value, state)
                }
            // A value that may still be sent delays the end.
            let isOver = end.handleEvents(onNext: { _ in state.update { $0.hasFinished = true } })
                .filter { _ in !(trailing && state.value.value != nil) }
            return windows.take(until: isOver)
        }
    }

    /// The waiting value, and the window that it opens.
    private func sent(from state: MutableProperty<Pending>) -> Stream {
        guard let value = state.value.value else { return .empty() }
        state.update { $0.value = nil }
        return .concat([
            .just(value), .deferred { state.value.hasFinished ? .empty() : window(opened: value, state) },
        ])
    }

    /// Open until its stream has sent a value, or has ended.
    private func window(opened value: Value, _ state: MutableProperty<Pending>) -> Stream {
        Stream.deferred { () throws(RecordedError) in graph.input(try wait(value)) }.take(1)
            .flatMap { _ in trailing ? sent(from: state) : .empty() }
    }
}

/// A value that a throttle has not sent yet.
private struct Pending: Sendable {
    var value: Value?
    var hasFinished = false
}
