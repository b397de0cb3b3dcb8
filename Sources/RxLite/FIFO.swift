/// A first-in, first-out queue whose cost of adding and taking does not depend on its length.
@usableFromInline
struct FIFO<Element> {
    @usableFromInline var slots: [Element?] = []
    @usableFromInline var head = 0

    @inlinable
    init() {}

    @inlinable
    init(_ elements: [Element]) { slots = elements }

    @inlinable var count: Int { slots.count - head }

    @inlinable var isEmpty: Bool { count == 0 }

    @inlinable var first: Element? { isEmpty ? nil : slots[head] }

    @inlinable
    mutating func append(_ element: Element) { slots.append(element) }

    @inlinable
    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = slots[head]
        slots[head] = nil
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
    mutating func removeAll() { self = FIFO() }

    /// The elements in order.
    @inlinable var elements: [Element] { slots[head...].compactMap { $0 } }

    @inlinable
    func forEach(_ body: (Element) -> Void) {
        for slot in slots[head...] { slot.map(body) }
    }
}

extension FIFO: Sendable where Element: Sendable {}
