import Synchronization

/// A recorded lambda: answers each call as it was answered, once.
final class CallTable: Sendable {
    private let open: Mutex<[Recording.Function.Call]>
    private let number: Int
    private let journal: Journal

    init(_ function: Recording.Function, number: Int, journal: Journal) {
        open = Mutex(function.calls)
        self.number = number
        self.journal = journal
    }

    /// Answers a call, and notes a problem if it is not in the table, or no longer.
    ///
    /// A recorded call may have fewer arguments: a function of JavaScript drops what it does not take.
    @discardableResult
    func callAsFunction(_ arguments: Value...) throws(RecordedError) -> Value {
        try call(arguments)
    }

    /// The same, with the arguments as one array.
    func call(_ arguments: [Value]) throws(RecordedError) -> Value {
        let call = open.withLock { calls in
            let index = calls.firstIndex { call in
                call.arguments.count <= arguments.count
                    && zip(call.arguments, arguments).allSatisfy { $0.matches($1) }
            }
            return index.map { calls.remove(at: $0) }
        }
        guard let call else {
            let problem = "function \(number) was called with \(arguments)"
            journal.note(problem)
            throw RecordedError(.string(problem))
        }
        return try call.result.get()
    }

    /// Notes the calls that were not made.
    func close() {
        for call in open.withLock({ $0 }) {
            journal.note("function \(number) was not called with \(call.arguments)")
        }
    }
}

/// What went wrong in a case besides the events.
final class Journal: Sendable {
    private let lines = Mutex<[String]>([])

    var problems: [String] { lines.withLock { $0 } }

    func note(_ problem: String) { lines.withLock { $0.append(problem) } }
}
