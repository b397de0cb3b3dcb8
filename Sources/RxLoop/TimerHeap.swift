/// The loop's pending timers: a binary heap whose entries know their positions, so that cancelling one among
/// thousands costs no more than adding it.
struct TimerHeap {
    private var entries: [TimerEntry] = []
    private var latestSequence: UInt64 = 0

    /// The entry that is due next.
    var first: TimerEntry? { entries.first }

    var count: Int { entries.count }

    mutating func insert(_ entry: TimerEntry) {
        latestSequence += 1
        entry.sequence = latestSequence
        entry.position = entries.count
        entries.append(entry)
        siftUp(from: entry.position)
    }

    /// Removes `entry`; does nothing if it is not in the heap.
    mutating func remove(_ entry: TimerEntry) {
        let hole = entry.position
        guard hole >= 0 else { return }
        entry.position = -1
        let last = entries.removeLast()
        guard last !== entry else { return }
        place(last, at: hole)
        siftUp(from: hole)
        siftDown(from: last.position)
    }

    /// Removes and returns the first entry if it is due at `time`.
    mutating func popFirst(dueAt time: UInt64) -> TimerEntry? {
        guard let first, first.deadline <= time else { return nil }
        remove(first)
        return first
    }

    /// Removes and returns all entries, in no particular order.
    mutating func removeAll() -> [TimerEntry] {
        let all = entries
        entries = []
        for entry in all { entry.position = -1 }
        return all
    }

    private mutating func place(_ entry: TimerEntry, at position: Int) {
        entries[position] = entry
        entry.position = position
    }

    private mutating func siftUp(from start: Int) {
        let entry = entries[start]
        var hole = start
        while hole > 0 {
            let parent = (hole - 1) / 2
            guard entry.precedes(entries[parent]) else { break }
            place(entries[parent], at: hole)
            hole = parent
        }
        place(entry, at: hole)
    }

    private mutating func siftDown(from start: Int) {
        let entry = entries[start]
        var hole = start
        while true {
            var child = 2 * hole + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].precedes(entries[child]) { child += 1 }
            guard entries[child].precedes(entry) else { break }
            place(entries[child], at: hole)
            hole = child
        }
        place(entry, at: hole)
    }
}
