import Synchronization

/// The work that has been posted to a loop and has not run yet. Accepts nothing until its loop runs.
final class Inbox: Sendable {
    typealias Work = @Sendable () -> Void

    private let works = Mutex<[Work]>([])
    /// Changed only under the lock.
    private let isTaking = Atomic<Bool>(false)

    /// Whether work is accepted. When this becomes false again, all accepted work has been run.
    var isOpen: Bool { isTaking.load(ordering: .acquiring) }

    /// Accepts work from now on.
    func open() { works.withLock { _ in isTaking.store(true, ordering: .releasing) } }

    /// Queues `work`; false if the inbox is closed and the work is dropped.
    ///
    /// - Parameter wake: wakes the thread that drains the queue, if the queue was empty. Called under the
    ///   lock, so that meanwhile the inbox cannot be closed and the handle to wake cannot be freed.
    func post(_ work: @escaping Work, wake: () -> Void) -> Bool {
        works.withLock { works in
            guard isTaking.load(ordering: .relaxed) else { return false }
            works.append(work)
            if works.count == 1 { wake() }
            return true
        }
    }

    var isEmpty: Bool { works.withLock { $0.isEmpty } }

    /// Exchanges the queue for `emptied`, so that the two arrays alternate and are not allocated anew.
    func take(into emptied: inout [Work]) {
        works.withLock { works in swap(&works, &emptied) }
    }

    /// Closes the inbox; returns false, and leaves it open, if there is work to run first.
    func closeIfEmpty() -> Bool {
        works.withLock { works in
            guard works.isEmpty else { return false }
            isTaking.store(false, ordering: .releasing)
            return true
        }
    }
}
