import Synchronization

/// A value that tests can wait on: waiters are resumed when it meets their conditions.
public final class Board<Contents: Sendable>: Sendable {
    private struct Waiter {
        /// Whether the wait is over; pure, because it is called under the lock.
        let isMet: @Sendable (Contents) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var contents: Contents
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        var cancelled: Set<Int> = []
        var isStopped = false
    }

    private let state: Mutex<State>

    /// Creates a board without waiters.
    public init(_ contents: sending Contents) { state = Mutex(State(contents: contents)) }

    /// The current contents.
    public var contents: Contents { state.withLock { $0.contents } }

    /// Changes the contents and resumes the waiters whose condition they now meet. `change` is called under a
    /// lock.
    public func update<Result: Sendable>(_ change: (inout Contents) -> Result) -> Result {
        let (result, met) = state.withLock { state in
            let result = change(&state.contents)
            guard !state.waiters.isEmpty else { return (result, [Int: Waiter]()) }
            let met = state.waiters.filter { $0.value.isMet(state.contents) }
            for id in met.keys { state.waiters[id] = nil }
            return (result, met)
        }
        for waiter in met.values { waiter.continuation.resume() }
        return result
    }

    /// Fails all current and later waits with ``BoardStopped``.
    public func stop() {
        let waiters = state.withLock { state in
            state.isStopped = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.continuation.resume(throwing: BoardStopped()) }
    }

    /// Returns the result of `look` as soon as it is not `nil`. Throws if the board is stopped first or the
    /// task is cancelled. `look` must not have side effects: it is called under a lock.
    public func until<Result: Sendable>(
        _ look: @escaping @Sendable (Contents) -> Result?
    ) async throws -> Result {
        while true {
            if let found = state.withLock({ look($0.contents) }) { return found }
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
            if waiter.isMet(state.contents) { return .met }
            if state.isStopped { return .stopped }
            state.waiters[id] = waiter
            return .waits
        }
        switch entry {
        case .waits: break
        case .met: waiter.continuation.resume()
        case .stopped: waiter.continuation.resume(throwing: BoardStopped())
        case .cancelled: waiter.continuation.resume(throwing: CancellationError())
        }
    }

    private func leave(_ id: Int) {
        let waiter = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: id)
            // Cancelled before it entered: `enter` must detect this.
            if waiter == nil { state.cancelled.insert(id) }
            return waiter
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}

/// The board was stopped before the expected contents were there.
public struct BoardStopped: Error {}
