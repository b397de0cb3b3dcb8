/// What waits for its time in a loop's ``TimerHeap``.
class TimerEntry: @unchecked Sendable {
    // Unchecked: touched only on the loop once it has been inserted, which is asserted there; see the subclasses for
    // before.

    /// When it is due, in nanoseconds of `uv_hrtime`. Not to be changed while it is in the heap.
    final var deadline: UInt64
    /// Counts up in order of insertion; decides between equal deadlines.
    final var sequence: UInt64 = 0
    /// Where it stands in the loop's heap, or −1.
    final var position = -1

    init(deadline: UInt64) { self.deadline = deadline }

    /// It is due, and out of the heap.
    func run() {}

    /// Whether it is due before `other`.
    final func precedes(_ other: TimerEntry) -> Bool {
        deadline == other.deadline ? sequence < other.sequence : deadline < other.deadline
    }
}
