/// A first-in, first-out queue; adding and taking cost the same whatever its length.
@usableFromInline
struct FIFO<Element> {
    private var slots: [Element?] = []
    private var head = 0

    init() {}

    init(_ elements: [Element]) { slots = elements }

    var count: Int { slots.count - head }

    var isEmpty: Bool { count == 0 }

    var first: Element? { isEmpty ? nil : slots[head] }

    mutating func append(_ element: Element) { slots.append(element) }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            slots[head] = nil
            head += 1
            if head == slots.count || (head >= 32 && head * 2 >= slots.count) {
                slots.removeFirst(head)
                head = 0
            }
        }
        return slots[head]
    }

    mutating func removeAll() { self = FIFO() }

    func forEach(_ body: (Element) -> Void) {
        for slot in slots[head...] { slot.map(body) }
    }
}
