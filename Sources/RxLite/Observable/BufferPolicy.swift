/// The treatment of values that arrive faster than they are taken.
public enum BufferPolicy<Failure: Error>: Sendable {
    /// Pauses the stream when `high` values wait, and resumes it when `low` are left. Sources that cannot
    /// pause (signals, timers) are buffered without limit.
    case suspend(high: Int, low: Int)
    /// Keeps the latest values, up to this number, and drops older ones.
    case latest(Int)
    /// Keeps the first values, up to this number, and drops newer ones.
    case oldest(Int)
    /// Keeps all values.
    case unbounded
    // Indirect, so that the size of a policy's holder does not depend on the error's size.
    /// Keeps up to this number of values. One more ends the stream: the source is cancelled, and the error follows the
    /// waiting values.
    indirect case fail(above: Int, with: Failure)
}

extension BufferPolicy: Equatable where Failure: Equatable {}

// MARK: - Waiting values

/// Values that wait to be taken, as many as a ``BufferPolicy`` allows.
@usableFromInline
struct PendingBuffer<Element: Sendable, Failure: Error>: Sendable {
    @usableFromInline var values = FIFO<Element>()
    /// Whether the source waits for this buffer: the owner pauses it once for each `full`, and resumes it
    /// once for each ``resumesSource(_:)``. ``SharedSubscriber`` clears it when it leaves its run.
    @usableFromInline var isSourcePaused = false
    /// For ``Values/Iterator/droppedCount``. The other owners of a buffer count the admissions themselves.
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

    /// Whether so few values wait that a paused source must resume. If so, it counts as running: the caller resumes it.
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

/// A first-in, first-out queue whose cost of adding and taking does not depend on its length.
@usableFromInline
package struct FIFO<Element> {
    @usableFromInline var slots: [Element?] = []
    @usableFromInline var head = 0

    @inlinable
    package init() {}

    @inlinable
    init(_ elements: [Element]) { slots = elements }

    @inlinable package var count: Int { slots.count - head }

    @inlinable package var isEmpty: Bool { count == 0 }

    @inlinable package var first: Element? { isEmpty ? nil : slots[head] }

    @inlinable
    package mutating func append(_ element: Element) { slots.append(element) }

    @inlinable
    package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = slots[head].take()
        head += 1
        if head == slots.count {
            slots.removeAll(keepingCapacity: slots.capacity <= 256)
            head = 0
        } else if head >= 32 && head * 2 >= slots.count {
            slots.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Removes and returns the first `limit` elements, or all if there are fewer.
    @inlinable
    mutating func popFirst(atMost limit: Int) -> FIFO {
        guard count > limit else {
            defer { removeAll() }
            return self
        }
        var taken = FIFO()
        taken.slots.reserveCapacity(limit)
        for _ in 0..<limit { taken.slots.append(popFirst()) }
        return taken
    }

    @inlinable
    package mutating func removeAll() { self = FIFO() }

    /// Replaces all elements by one.
    @inlinable
    mutating func keepOnly(_ element: Element) {
        if slots.count == 1 {
            slots[0] = element
        } else {
            self = FIFO([element])
        }
    }

    /// The elements in order.
    @inlinable package var elements: [Element] { slots[head...].compactMap { $0 } }

    @inlinable
    func forEach(_ body: (Element) -> Void) {
        for slot in slots[head...] { slot.map(body) }
    }
}

extension FIFO: Sendable where Element: Sendable {}
