/// An entry that waits for its due time in a loop's ``TimerHeap``.
class TimerEntry: @unchecked Sendable {
    // Unchecked: once inserted, accessed only on the loop, which is asserted there; before that, see the
    // subclasses.

    /// The due time, in nanoseconds of `uv_hrtime`. Must not change while the entry is in the heap.
    final var deadline: UInt64
    /// Counts up in order of insertion; orders entries with equal deadlines.
    final var sequence: UInt64 = 0
    /// The index in the loop's heap, or −1.
    final var position = -1

    init(deadline: UInt64) { self.deadline = deadline }

    /// Called when the entry is due, and no longer in the heap.
    func run() {}

    /// Whether it is due before `other`.
    final func precedes(_ other: TimerEntry) -> Bool {
        deadline == other.deadline ? sequence < other.sequence : deadline < other.deadline
    }
}
