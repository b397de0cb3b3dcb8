import RxNetworking
import Synchronization

/// The operations under way, and their output: nothing is written for an operation that has been cancelled or
/// has ended.
final class Operations: Sendable {
    private struct Contents {
        var running: [Command.ID: Running] = [:]
        var starts = 0
    }

    private struct Running {
        let number: Int
        let isEndless: Bool
        var subscription: Subscription?
    }

    /// One operation, as seen by the code that runs it.
    struct Handle: Sendable {
        fileprivate let operations: Operations
        fileprivate let id: Command.ID
        fileprivate let number: Int

        /// Writes an answer that may be followed by more.
        func write(_ answer: some Encodable & Sendable) {
            _ = operations.answer(answer, of: self, isLast: false)
        }

        /// Ends the operation with its last answer. Answers after the first end are dropped.
        func end(with answer: some Encodable & Sendable) {
            operations.ended(operations.answer(answer, of: self, isLast: true))
        }
    }

    private let contents = Mutex(Contents())
    private let output: Output
    private let count = MutableProperty(0)

    init(output: Output) { self.output = output }

    /// Begins an operation, which ends through its handle.
    ///
    /// - Parameter isEndless: whether it runs until it is cancelled.
    /// - Returns: `false` if the id is in use.
    func begin(_ id: Command.ID, isEndless: Bool = false, _ start: (Handle) -> Subscription) -> Bool {
        let number = contents.withLock { contents -> Int? in
            guard contents.running[id] == nil else { return nil }
            contents.starts += 1
            contents.running[id] = Running(number: contents.starts, isEndless: isEndless)
            return contents.starts
        }
        guard let number else { return false }
        count.update { $0 += 1 }
        let subscription = start(Handle(operations: self, id: id, number: number))
        contents.withLock { contents in
            guard contents.running[id]?.number == number else { return }
            contents.running[id]?.subscription = subscription
        }
        return true
    }

    private func answer(_ answer: some Encodable & Sendable, of handle: Handle, isLast: Bool) -> Running? {
        contents.withLock { contents in
            guard contents.running[handle.id]?.number == handle.number else { return nil }
            output.write(answer)
            return isLast ? contents.running.removeValue(forKey: handle.id) : nil
        }
    }

    private func ended(_ operation: Running?) {
        if operation != nil { count.update { $0 -= 1 } }
    }

    /// Ends an operation early, with `answer` as its last; without one if it had ended.
    func cancel(_ id: Command.ID, with answer: (some Encodable & Sendable)?) {
        let operation = contents.withLock { contents in
            let operation = contents.running.removeValue(forKey: id)
            if operation != nil, let answer { output.write(answer) }
            return operation
        }
        operation?.subscription?.cancel()
        ended(operation)
    }

    /// Ends the endless operations.
    func cancelEndless() {
        let ids = contents.withLock { $0.running.filter(\.value.isEndless).keys }
        for id in ids { cancel(id, with: nil as ErrorAnswer?) }
    }

    /// Returns when no operation is left.
    func waitForAll() async {
        for await count in count.observable where count == 0 { break }
    }
}
