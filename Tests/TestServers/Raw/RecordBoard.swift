import Synchronization

/// The record of a server, with those who wait for something in it.
final class RecordBoard: Sendable {
    /// The server stopped before what was waited for had come.
    struct Stopped: Error {}

    private struct Waiter {
        /// Says, of a record, whether the wait is over; pure, for it is called under the lock.
        let isMet: @Sendable (RawServer.Record) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var record = RawServer.Record()
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        var cancelled: Set<Int> = []
        var isStopped = false
    }

    private let state = Mutex(State())

    var record: RawServer.Record { state.withLock { $0.record } }

    /// Changes the record and wakes those whose wait that ends.
    func update<Result: Sendable>(_ change: (inout RawServer.Record) -> Result) -> Result {
        let (result, met) = state.withLock { state in
            let result = change(&state.record)
            let met = state.waiters.filter { $0.value.isMet(state.record) }
            for id in met.keys { state.waiters[id] = nil }
            return (result, met)
        }
        for waiter in met.values { waiter.continuation.resume() }
        return result
    }

    /// Fails everybody who waits, now and later.
    func stop() {
        let waiters = state.withLock { state in
            state.isStopped = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.continuation.resume(throwing: Stopped()) }
    }

    /// Gives what `look` finds, as soon as it finds something.
    func until<Result: Sendable>(
        _ look: @escaping @Sendable (RawServer.Record) -> Result?
    ) async throws -> Result {
        while true {
            if let found = look(record) { return found }
            let id = state.withLock { state in
                state.nextWaiter += 1
                return state.nextWaiter
            }
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    enter(id, Waiter(isMet: { look($0) != nil }, continuation: continuation))
                }
            } onCancel: {
                leave(id)
            }
        }
    }

    private enum Entry { case waits, met, stopped, cancelled }

    private func enter(_ id: Int, _ waiter: Waiter) {
        let entry: Entry = state.withLock { state in
            if state.cancelled.remove(id) != nil { return .cancelled }
            if waiter.isMet(state.record) { return .met }
            if state.isStopped { return .stopped }
            state.waiters[id] = waiter
            return .waits
        }
        switch entry {
        case .waits: break
        case .met: waiter.continuation.resume()
        case .stopped: waiter.continuation.resume(throwing: Stopped())
        case .cancelled: waiter.continuation.resume(throwing: CancellationError())
        }
    }

    private func leave(_ id: Int) {
        let waiter = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: id)
            // Cancelled before it entered: entering must find that out.
            if waiter == nil { state.cancelled.insert(id) }
            return waiter
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
