package import RxLite

/// What of something that changes has been saved, and who waits for more.
package struct WriteCoalescer {
    package typealias Waiter = Emitter<Void, NetworkError>

    private var changes = 0
    private var saved = 0
    private var isWriting = false
    private var isUrgent = false
    /// When the next timer fires.
    private var due: Duration?
    private var waiters: [(change: Int, waiter: Waiter)] = []

    package init() {}

    /// Whether there is something to save that no write has been given.
    package var isDue: Bool { changes > saved && !isWriting }

    package mutating func noteChange(isUrgent: Bool) {
        changes += 1
        if isUrgent { self.isUrgent = true }
    }

    /// Whether a timer is to be started that fires then: there is something to write, and none that fires
    /// sooner. A timer that finds nothing to write does no harm.
    package mutating func needsTimer(due newDue: Duration) -> Bool {
        guard isDue else { return false }
        if let due, due <= newDue { return false }
        due = newDue
        return true
    }

    /// `false` if everything is safe already.
    package mutating func wait(_ waiter: Waiter) -> Bool {
        guard changes > saved else { return false }
        waiters.append((changes, waiter))
        return true
    }

    /// The change up to which to write now; `nil` if there is nothing to write, or a write runs.
    package mutating func beginWriting() -> Int? {
        guard isDue else { return nil }
        isWriting = true
        isUrgent = false
        due = nil
        return changes
    }

    /// Those to whom the outcome of a write is to be told.
    package mutating func endWriting(_ change: Int, isSaved: Bool) -> [Waiter] {
        isWriting = false
        if isSaved { saved = change }
        let ready = waiters.filter { $0.change <= change }.map(\.waiter)
        waiters.removeAll { $0.change <= change }
        return ready
    }

    /// Whether changes that came while a write ran are to be written at once.
    package var isAwaited: Bool { isUrgent || !waiters.isEmpty }
}
