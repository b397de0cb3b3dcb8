import Synchronization

/// What happened so far, with those who wait for something in it.
public final class Board<Contents: Sendable>: Sendable {
    private struct Waiter {
        /// Says, of the contents, whether the wait is over; pure, for it is called under the lock.
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

    /// Creates a board nobody waits at.
    public init(_ contents: sending Contents) { state = Mutex(State(contents: contents)) }

    /// What it says now.
    public var contents: Contents { state.withLock { $0.contents } }

    /// Changes the contents and wakes those whose wait that ends. `change` is called under a lock.
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

    /// Fails everybody who waits, now and later, with ``BoardStopped``.
    public func stop() {
        let waiters = state.withLock { state in
            state.isStopped = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.continuation.resume(throwing: BoardStopped()) }
    }

    /// Gives what `look` finds, as soon as it finds something. Throws when the board stops first or the task is
    /// cancelled. `look` must do nothing but look: it is called under a lock.
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
            // Cancelled before it entered: entering must find that out.
            if waiter == nil { state.cancelled.insert(id) }
            return waiter
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}

/// The board stopped before what was waited for had come.
public struct BoardStopped: Error {}
