import Synchronization

/// A recorded lambda: returns for each call the recorded result, once.
final class CallTable: Sendable {
    private struct Calls: Sendable {
        var open: [Recording.Function.Call]
        /// The number of calls with each list of arguments.
        var made: [[Value]: Int] = [:]
    }

    private let calls: Mutex<Calls>
    private let number: Int
    private let journal: Journal

    init(_ function: Recording.Function, number: Int, journal: Journal) {
        calls = Mutex(Calls(open: function.calls))
        self.number = number
        self.journal = journal
    }

    /// Makes a call, and records a problem if it is not in the table, or no longer.
    ///
    /// A recorded call may have fewer arguments: a function in JavaScript ignores extra ones.
    @discardableResult
    func callAsFunction(_ arguments: Value...) throws(RecordedError) -> Value {
        try call(arguments)
    }

    /// The same, with the arguments as one array.
    func call(_ arguments: [Value]) throws(RecordedError) -> Value {
        let call = calls.withLock { calls -> Recording.Function.Call? in
            let index = calls.open.firstIndex { call in
                call.arguments.count <= arguments.count
                    && zip(call.arguments, arguments).allSatisfy { $0.matches($1) }
            }
            guard let index else { return nil }
            let call = calls.open.remove(at: index)
            calls.made[call.arguments, default: 0] += 1
            return call
        }
        guard let call else {
            let problem = "function \(number) was called with \(arguments)"
            journal.note(problem)
            throw RecordedError(.string(problem))
        }
        return try call.result.get()
    }

    /// Records the calls that were not made.
    ///
    /// If the remaining calls repeat all that were made, once or several times, they belong to subscribers of
    /// the test that the recording does not list.
    func close() {
        let (open, made) = calls.withLock { ($0.open, $0.made) }
        let left = Dictionary(open.map { ($0.arguments, 1) }, uniquingKeysWith: +)
        let areRepetitions =
            left.keys == made.keys && Set(left.map { $0.value / (made[$0.key] ?? 1) }).count == 1
            && left.allSatisfy { $0.value.isMultiple(of: made[$0.key] ?? 1) }
        guard !areRepetitions else { return }
        for call in open { journal.note("function \(number) was not called with \(call.arguments)") }
    }
}

/// Problems of a case besides the events.
final class Journal: Sendable {
    private let lines = Mutex<(problems: [String], gap: String?)>(([], nil))

    var problems: [String] { lines.withLock { $0.problems } }

    /// A detail that the recording lacks, without which the case cannot be run.
    var gap: String? { lines.withLock { $0.gap } }

    func note(_ problem: String) { lines.withLock { $0.problems.append(problem) } }

    func note(gap: String) { lines.withLock { $0.gap = gap } }
}
