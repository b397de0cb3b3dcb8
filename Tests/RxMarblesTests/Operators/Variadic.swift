import RxLite

/// Arguments of which there may be any number, and what may stand behind them.
struct Variadic {
    private(set) var values: [Value]
    private let use: Operator

    init(values: [Value], use: Operator) {
        self.values = values
        self.use = use
    }

    /// Takes a scheduler from the end. There is one in each case, the virtual clock.
    mutating func dropScheduler() {
        if values.last == .scheduler { values.removeLast() }
    }

    /// Takes a number from the end.
    mutating func popNumber() -> Value? {
        guard case .number? = values.last else { return nil }
        return values.removeLast()
    }

    /// Takes a lambda from the end.
    mutating func popFunction() -> CallTable? {
        guard case .function(let index)? = values.last else { return nil }
        values.removeLast()
        return use.graph.functions[index]
    }

    /// The values as streams.
    ///
    /// - Parameter spreading: whether a single array stands for its elements.
    func inputs(spreading: Bool) throws -> [Stream] {
        if spreading, values.count == 1, case .array(let elements) = values[0] {
            return try elements.map(use.input)
        }
        return try values.map(use.input)
    }
}
