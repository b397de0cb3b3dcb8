package import RxLite

/// Coalesces writes of a changing value, and keeps the callers that wait for them.
package struct WriteCoalescer {
    package typealias Waiter = Emitter<Void, NetworkError>

    private var changes = 0
    /// The last change that has been written, or given up by ``discardChanges()``.
    private var saved = 0
    private var isWriting = false
    /// Whether a change must not wait for a timer. A write that picks it up resets this.
    private var isUrgent = false
    /// When the next timer fires.
    private var due: Duration?
    private var waiters: [(change: Int, waiter: Waiter)] = []

    package init() {}

    /// Whether there are changes to write, and no write is running.
    package var isDue: Bool { changes > saved && !isWriting }

    package mutating func recordChange(isUrgent: Bool) {
        changes += 1
        if isUrgent { self.isUrgent = true }
    }

    /// Whether to start a timer that fires at `newDue`: there are changes to write, and no timer fires
    /// earlier. A timer that finds nothing to write is harmless.
    package mutating func needsTimer(due newDue: Duration) -> Bool {
        guard isDue else { return false }
        if let due, due <= newDue { return false }
        due = newDue
        return true
    }

    /// Adds a caller that waits for all changes so far; `false` if these are already saved.
    package mutating func wait(_ waiter: Waiter) -> Bool {
        guard changes > saved else { return false }
        waiters.append((changes, waiter))
        return true
    }

    /// Begins a write and returns the last change it includes; `nil` if there is nothing to write or a write
    /// is running. After a number, ``endWriting(_:isSaved:)`` must follow, also for a failure.
    package mutating func beginWriting() -> Int? {
        guard isDue else { return nil }
        isWriting = true
        isUrgent = false
        due = nil
        return changes
    }

    /// Ends a write and returns the callers to complete with its outcome.
    package mutating func endWriting(_ change: Int, isSaved: Bool) -> [Waiter] {
        isWriting = false
        if isSaved { saved = change }
        let ready = waiters.filter { $0.change <= change }.map(\.waiter)
        waiters.removeAll { $0.change <= change }
        return ready
    }

    /// Forgets all unsaved changes, and returns the callers that wait for them; does nothing while a write is running.
    package mutating func discardChanges() -> [Waiter] {
        guard !isWriting else { return [] }
        saved = changes
        isUrgent = false
        due = nil
        defer { waiters = [] }
        return waiters.map(\.waiter)
    }

    /// Whether to write changes made during a write as soon as it ends.
    package var isAwaited: Bool { isUrgent || !waiters.isEmpty }
}
