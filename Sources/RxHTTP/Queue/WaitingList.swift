/// First in, first out, and who has a ticket can be taken out in between without a search.
package struct WaitingList<Element> {
    /// Where somebody stands.
    package struct Ticket {
        @usableFromInline let number: Int

        @inlinable
        init(number: Int) { self.number = number }
    }

    @usableFromInline var entries: [Element?] = []
    /// The number of the first entry.
    @usableFromInline var base = 0
    /// Where the entries begin that have not been taken.
    @usableFromInline var head = 0
    @usableFromInline var count = 0

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { count == 0 }

    /// Who comes next.
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

    /// Whether it was still there.
    @inlinable
    package mutating func remove(_ ticket: Ticket) -> Bool {
        let index = ticket.number - base
        guard index >= head, index < entries.count, entries[index].take() != nil else { return false }
        count -= 1
        trim()
        return true
    }

    /// Lets go of what lies before the head; of everything if nobody is left.
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
