/// A first-in, first-out list whose entries can also be removed by ticket, without a search.
package struct WaitingList<Element> {
    /// The position of an entry.
    package struct Ticket {
        @usableFromInline let number: Int

        @inlinable
        init(number: Int) { self.number = number }
    }

    @usableFromInline var entries: [Element?] = []
    /// The number of the first entry.
    @usableFromInline var base = 0
    /// The index of the first entry that has not been taken.
    @usableFromInline var head = 0
    @usableFromInline var count = 0

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { count == 0 }

    /// The element that is next.
    @inlinable var first: Element? {
        for index in head..<entries.count { if let entry = entries[index] { return entry } }
        return nil
    }

    @inlinable
    package mutating func append(_ element: Element) -> Ticket {
        entries.append(element)
        count += 1
        return Ticket(number: base + entries.count - 1)
    }

    @inlinable
    package mutating func popFirst() -> Element? {
        while head < entries.count {
            let entry = entries[head].take()
            head += 1
            if let entry {
                count -= 1
                trim()
                return entry
            }
        }
        trim()
        return nil
    }

    /// Removes the entry of a ticket and returns whether it was still there.
    @inlinable
    package mutating func remove(_ ticket: Ticket) -> Bool {
        let index = ticket.number - base
        guard index >= head, index < entries.count, entries[index].take() != nil else { return false }
        count -= 1
        trim()
        return true
    }

    /// Drops the entries before the head once they are the larger part, and all entries if none is left.
    @inlinable
    mutating func trim() {
        if count == 0 { head = entries.count }
        while head < entries.count, entries[head] == nil { head += 1 }
        guard head == entries.count || (head > 32 && head * 2 > entries.count) else { return }
        entries.removeFirst(head)
        base += head
        head = 0
    }
}
