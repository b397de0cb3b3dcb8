/// Elements in the order of their last use. Each has a place, by which it is found again; finding, using and
/// removing take constant time.
package struct RecencyList<Element> {
    private struct Slot {
        var element: Element?
        var newer: Int?
        var older: Int?
    }

    private var slots: [Slot] = []
    private var free: [Int] = []
    private var newest: Int?
    /// The place of the least recently used element.
    private(set) var oldest: Int?

    /// The element at a place, which must exist.
    package subscript(place: Int) -> Element? {
        get { slots[place].element }
        set { slots[place].element = newValue }
    }

    /// Adds an element as the most recently used. Returns its place.
    package mutating func insert(_ element: Element) -> Int {
        let place: Int
        if let reused = free.popLast() {
            place = reused
            slots[place] = Slot(element: element)
        } else {
            place = slots.count
            slots.append(Slot(element: element))
        }
        link(place)
        return place
    }

    /// Marks the element at a place as used.
    package mutating func use(_ place: Int) {
        guard place != newest else { return }
        unlink(place)
        link(place)
    }

    /// Removes the element at a place, which may then be reused.
    package mutating func remove(_ place: Int) {
        unlink(place)
        slots[place] = Slot()
        free.append(place)
    }

    private mutating func link(_ place: Int) {
        slots[place].older = newest
        slots[place].newer = nil
        if let newest { slots[newest].newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (slots[place].newer, slots[place].older)
        if let newer { slots[newer].older = older } else { newest = older }
        if let older { slots[older].newer = newer } else { oldest = newer }
    }
}
