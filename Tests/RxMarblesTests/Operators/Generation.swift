import RxLite

/// The creator that sends each state while a condition holds, made of the previous one; or a value derived
/// from it.
enum Generation {
    static func stream(_ use: Operator) throws -> Stream {
        let steps = use.has(1) ? try arguments(of: use) : try members(of: use)
        guard let iterate = steps.iterate else { throw use.unsupported("there is nothing to iterate with") }
        return Stream.just(steps.first)
            .expand { state throws(RecordedError) in .just(try iterate(state)) }
            .take(while: { state throws(RecordedError) in try steps.condition?(state).isTrue ?? true })
            .map { state throws(RecordedError) in try steps.select?(state) ?? state }
    }

    private struct Steps: Sendable {
        let first: Value
        let condition: CallTable?
        let iterate: CallTable?
        let select: CallTable?
    }

    private static func arguments(of use: Operator) throws -> Steps {
        try use.scheduler(4)
        let select = use[3] == .scheduler ? nil : try use.optionalFunction(3)
        return Steps(
            first: use[0], condition: try use.optionalFunction(1), iterate: try use.optionalFunction(2),
            select: select)
    }

    private static func members(of use: Operator) throws -> Steps {
        let options = try use.options(
            0, ["initialState", "condition", "iterate", "resultSelector", "scheduler"])
        return Steps(
            first: options["initialState"], condition: try use.optionalFunction(options["condition"]),
            iterate: try use.optionalFunction(options["iterate"]),
            select: try use.optionalFunction(options["resultSelector"]))
    }
}
