/// The commands that wait until curl has returned, and whether it has.
struct CommandQueue {
    /// The commands that have arrived.
    private var arrived: [Multi.Command] = []
    /// The commands that are being applied, in reverse order.
    private var batch: [Multi.Command] = []
    /// Whether a call into curl, or the reading of its messages, is running.
    private(set) var isBusy = false
    /// Whether the remaining commands wait for the loop's next iteration.
    private(set) var isPostponed = false

    var isEmpty: Bool { batch.isEmpty && arrived.isEmpty }

    mutating func append(_ command: Multi.Command) { arrived.append(command) }

    /// Returns the next command. The two arrays take turns, and commands are moved out of them, so nothing is
    /// allocated or retained.
    mutating func next() -> Multi.Command? {
        if batch.isEmpty {
            swap(&arrived, &batch)
            batch.reverse()
        }
        return batch.popLast()
    }

    mutating func removeAll() { (arrived, batch) = ([], []) }

    /// Notes that a call into curl, or the reading of its messages, begins.
    mutating func begin() { isBusy = true }

    /// Notes that curl has returned and all its messages have been read.
    mutating func end() { isBusy = false }

    /// Notes that the remaining commands wait for the loop's next iteration.
    mutating func postpone() { isPostponed = true }

    /// Notes that this iteration has begun.
    mutating func resume() { isPostponed = false }
}
