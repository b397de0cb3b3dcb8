/// Values that wait to be taken, as many as a ``BufferPolicy`` allows.
@usableFromInline
struct PendingBuffer<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline var values = FIFO<Element>()
    @usableFromInline var isSourcePaused = false
    @usableFromInline var droppedCount = 0

    /// The treatment of a value, with its consequence for the source.
    @usableFromInline
    enum Admission: Sendable {
        case kept
        /// Kept, and the source must be paused.
        case full
        /// This value or an older one was dropped. It is released after the caller's lock.
        case dropped(Element?)
        /// Dropped, and the source must be stopped.
        case overflown(Failure)
    }

    @inlinable
    init(droppedCount: Int = 0) { self.droppedCount = droppedCount }

    @inlinable
    mutating func append(_ value: Element, _ policy: BufferPolicy<Failure>) -> Admission {
        switch policy {
        case .unbounded:
            values.append(value)
        case .suspend(let high, _):
            values.append(value)
            if !isSourcePaused && values.count >= high {
                isSourcePaused = true
                return .full
            }
        case .latest(let limit):
            values.append(value)
            if values.count > limit {
                droppedCount += 1
                return .dropped(values.popFirst())
            }
        case .oldest(let limit):
            guard values.count < limit else {
                droppedCount += 1
                return .dropped(nil)
            }
            values.append(value)
        case .fail(let limit, let error):
            guard values.count < limit else {
                droppedCount += 1
                return .overflown(error)
            }
            values.append(value)
        }
        return .kept
    }

    /// Whether so few values wait that a paused source must resume.
    @inlinable
    mutating func resumesSource(_ policy: BufferPolicy<Failure>) -> Bool {
        guard isSourcePaused, case .suspend(_, let low) = policy, values.count <= max(low, 0) else {
            return false
        }
        isSourcePaused = false
        return true
    }

    /// Puts back `values` that were taken but not used, before those that arrived meanwhile; the latter are
    /// admitted again.
    @inlinable
    mutating func putBack(_ values: FIFO<Element>, _ policy: BufferPolicy<Failure>) -> [Admission] {
        guard !values.isEmpty else { return [] }
        let newer = self.values
        self.values = values
        var admissions: [Admission] = []
        newer.forEach { admissions.append(append($0, policy)) }
        return admissions
    }
}
