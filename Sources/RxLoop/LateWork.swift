import Synchronization

/// What is scheduled on a loop that has ended: run by the thread that brings it, or by one that is at such
/// work already, in a loop, so that work which schedules more does not recurse.
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

    /// What has been brought; `nil`, and the thread is done, if nothing has.
    private func nextBatch() -> [Inbox.Work]? {
        contents.withLock { contents in
            let batch = contents.works
            contents.works = []
            contents.isRunning = !batch.isEmpty
            return batch.isEmpty ? nil : batch
        }
    }
}
