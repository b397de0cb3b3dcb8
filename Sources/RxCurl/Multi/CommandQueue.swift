/// The commands that wait until curl has returned, and whether it has.
struct CommandQueue {
    /// Those that have come.
    private var arrived: [Multi.Command] = []
    /// Those that are being applied, the next one last.
    private var batch: [Multi.Command] = []
    /// Whether a call into curl, or the reading of its messages, is under way.
    private(set) var isBusy = false
    /// Whether those that are left wait for the loop's next round.
    private(set) var isPostponed = false

    var isEmpty: Bool { batch.isEmpty && arrived.isEmpty }

    mutating func append(_ command: Multi.Command) { arrived.append(command) }

    /// The next command. The two arrays take turns, and commands are moved out of them: nothing is allocated or
    /// retained.
    mutating func next() -> Multi.Command? {
        if batch.isEmpty {
            swap(&arrived, &batch)
            batch.reverse()
        }
        return batch.popLast()
    }

    mutating func removeAll() { (arrived, batch) = ([], []) }

    /// A call into curl, or the reading of its messages, begins.
    mutating func begin() { isBusy = true }

    /// curl has returned, and all its messages have been read.
    mutating func end() { isBusy = false }

    /// The commands that are left wait for the loop's next round.
    mutating func postpone() { isPostponed = true }

    /// That round has come.
    mutating func goOn() { isPostponed = false }
}
