import Synchronization

/// Work scheduled on a loop that has ended. It is run by the thread that schedules it, or by one that is
/// already running such work, in a loop, so that work which schedules more does not recurse.
final class LateWork: Sendable {
    private struct Contents {
        var works: [Inbox.Work] = []
        var isRunning = false
    }

    private let contents = Mutex(Contents())

    func run(_ work: @escaping Inbox.Work) {
        let isMine = contents.withLock { contents in
            contents.works.append(work)
            defer { contents.isRunning = true }
            return !contents.isRunning
        }
        guard isMine else { return }
        while let batch = nextBatch() {
            for work in batch { work() }
        }
    }

    /// The work added since the last batch; `nil` if there is none, and the thread is done.
    private func nextBatch() -> [Inbox.Work]? {
        contents.withLock { contents in
            let batch = contents.works
            contents.works = []
            contents.isRunning = !batch.isEmpty
            return batch.isEmpty ? nil : batch
        }
    }
}
