import RxLite
import Synchronization

/// One recorded use of an operator or creator, which records the arguments that are read.
///
/// An argument that is never read has a meaning that is unknown here: the case is then not applicable.
final class Operator: Sendable {
    let name: String
    let graph: Graph
    private let arguments: [Value]
    private let unread: Mutex<Set<Int>>

    init(_ name: String, _ arguments: [Value], in graph: Graph) {
        self.name = name
        self.arguments = arguments
        self.graph = graph
        unread = Mutex(Set(arguments.indices.filter { arguments[$0] != .undefined }))
    }

    /// The stream that the operator is applied to.
    func applied(to source: Stream) throws -> Stream {
        try made { () throws in try Self.families.lazy.compactMap { try $0(self, source) }.first }
    }

    /// The stream of a creator.
    func created() throws -> Stream {
        try made { () throws in try Creating.stream(self) }
    }

    private func made(_ make: () throws -> Stream?) throws -> Stream {
        if let reason = Absence.reasons[name] { throw unsupported(reason) }
        guard let stream = try make() else { throw unsupported("it is unknown") }
        if let index = unread.withLock({ $0.min() }) {
            throw unsupported("the meaning of argument \(index), \(arguments[index]), is unknown")
        }
        return stream
    }

    /// Each function knows some operators, and returns `nil` for others.
    private static let families: [@Sendable (Operator, Stream) throws -> Stream?] = [
        Transforming.stream, Filtering.stream, Folding.stream, Flattening.stream, Combining.stream,
        Timing.stream, Windowing.stream, Recovering.stream, Sharing.stream,
    ]

    /// Keeps the virtual time.
    var clock: any Scheduler { graph.clock }

    /// An argument; `undefined` if there is none.
    subscript(index: Int) -> Value {
        unread.withLock { _ = $0.remove(index) }
        return arguments.indices.contains(index) ? arguments[index] : .undefined
    }

    /// Whether an argument is given, `undefined` included.
    func has(_ index: Int) -> Bool { arguments.count > index }

    /// All arguments from one on.
    func rest(from start: Int = 0) -> Variadic {
        let values = arguments.indices.dropFirst(start).map { self[$0] }
        return Variadic(values: values, use: self)
    }

    func unsupported(_ reason: String) -> Unsupported { Unsupported(operation: name, reason: reason) }
}

extension Operator {
    /// Reads a scheduler. There is one in each case, the virtual clock.
    func scheduler(_ index: Int) throws {
        switch self[index] {
        case .undefined, .null, .scheduler: return
        case let other: throw unsupported("\(other) is no scheduler")
        }
    }

    /// Reads the `this` of a lambda, which is part of its recording.
    func receiver(_ index: Int) { _ = self[index] }

    func function(_ index: Int) throws -> CallTable {
        guard let function = try optionalFunction(index) else { throw unsupported("a function is missing") }
        return function
    }

    func optionalFunction(_ index: Int) throws -> CallTable? { try optionalFunction(self[index]) }

    func optionalFunction(_ value: Value) throws -> CallTable? {
        switch value {
        case .undefined, .null: nil
        case .function(let index): graph.functions[index]
        default: throw unsupported("\(value) is no function")
        }
    }

    func number(_ index: Int) throws -> Int { try number(self[index]) }

    /// A count, by JavaScript's rules.
    func number(_ value: Value) throws -> Int {
        let number: Double? =
            switch value {
            case .number(let number): number
            case .string(let text): Double(text)
            default: nil
            }
        if number == .infinity { return .max }
        guard let number, let count = Int(exactly: number) else { throw unsupported("\(value) is no count") }
        return count
    }

    /// A limit of parallel streams; `nil` if there is none.
    func limit(_ value: Value) throws -> Int? {
        switch value {
        case .undefined, .null: return nil
        default:
            let limit = try number(value)
            guard limit > 0 else { throw unsupported("no stream would be begun") }
            return limit == .max ? nil : limit
        }
    }

    func duration(_ index: Int) throws -> Duration { try duration(self[index]) }

    func duration(_ value: Value) throws -> Duration {
        guard case .number(let milliseconds) = value, milliseconds.isFinite else {
            throw unsupported("\(value) is no duration")
        }
        return .milliseconds(milliseconds)
    }

    /// A duration, or the time until a date, at the time of reading.
    func wait(_ value: Value) throws -> @Sendable () -> Duration {
        if case .date(let time) = value {
            return { [clock] in max(.milliseconds(time) - clock.now, .zero) }
        }
        let duration = max(try duration(value), .zero)
        return { duration }
    }

    /// An object without unknown members; `undefined` if there is none.
    func options(_ index: Int, _ known: Set<String>) throws -> Value {
        switch self[index] {
        case .undefined, .null: return .undefined
        case .object(let members):
            if let member = members.first(where: { !known.contains($0.key) && $0.value != .undefined }) {
                throw unsupported("the meaning of \(member.key) is unknown")
            }
            return .object(members)
        case let other: throw unsupported("\(other) is no object")
        }
    }

    func input(_ index: Int) throws -> Stream { try input(self[index]) }

    func input(_ value: Value) throws -> Stream {
        guard value.isStream else { throw unsupported("\(value) is no stream") }
        return graph.input(value)
    }

    /// The lambda of an argument as a condition on value and index.
    func predicate(_ index: Int) throws -> @Sendable (Numbered) throws(RecordedError) -> Bool {
        let holds = try function(index)
        return { numbered throws(RecordedError) in
            try holds(numbered.value, numbered.index, .opaque).isTrue
        }
    }
}
