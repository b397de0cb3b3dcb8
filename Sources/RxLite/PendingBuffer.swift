/// Values that wait to be taken, as many as a ``BufferPolicy`` lets.
@usableFromInline
struct PendingBuffer<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline var values = FIFO<Element>()
    @usableFromInline var isSourcePaused = false
    @usableFromInline var droppedCount = 0

    /// What became of a value, and what its source must do.
    @usableFromInline
    enum Admission: Sendable {
        case kept
        /// Kept, and the source is to be paused.
        case full
        /// Left out, this one or an older one. Let go of after the caller's lock.
        case dropped(Element?)
        /// Left out, and the source is to be stopped.
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

    /// Whether so few wait that a paused source is to go on.
    @inlinable
    mutating func resumesSource(_ policy: BufferPolicy<Failure>) -> Bool {
        guard isSourcePaused, case .suspend(_, let low) = policy, values.count <= max(low, 0) else {
            return false
        }
        isSourcePaused = false
        return true
    }

    /// Takes back `values` that were taken and not used, ahead of those which came meanwhile; those are
    /// admitted anew.
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
