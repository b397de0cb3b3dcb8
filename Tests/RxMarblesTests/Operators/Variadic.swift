import RxLite

/// Any number of arguments, and optional ones after them.
struct Variadic {
    private(set) var values: [Value]
    private let use: Operator

    init(values: [Value], use: Operator) {
        self.values = values
        self.use = use
    }

    /// Removes a scheduler from the end. There is one in each case, the virtual clock.
    mutating func dropScheduler() {
        if values.last == .scheduler { values.removeLast() }
    }

    /// Removes a number from the end.
    mutating func popNumber() -> Value? {
        guard case .number? = values.last else { return nil }
        return values.removeLast()
    }

    /// Removes a lambda from the end.
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
