import Synchronization

/// What has been posted to a loop and not run yet. It takes nothing until its loop runs.
final class Inbox: Sendable {
    typealias Work = @Sendable () -> Void

    private let works = Mutex<[Work]>([])
    /// Changed only under the lock.
    private let isTaking = Atomic<Bool>(false)

    /// Whether work is taken. Once this says no again, everything that was taken has been run.
    var isOpen: Bool { isTaking.load(ordering: .acquiring) }

    /// Takes work from now on.
    func open() { works.withLock { _ in isTaking.store(true, ordering: .releasing) } }

    /// Queues `work`; false if the inbox is closed and the work is dropped.
    ///
    /// - Parameter wake: tells whoever drains the queue, called if it was empty. Under the lock, so that the
    ///   inbox cannot be closed, and what wakes its reader freed, in between.
    func post(_ work: @escaping Work, wake: () -> Void) -> Bool {
        works.withLock { works in
            guard isTaking.load(ordering: .relaxed) else { return false }
            works.append(work)
            if works.count == 1 { wake() }
            return true
        }
    }

    var isEmpty: Bool { works.withLock { $0.isEmpty } }

    /// Exchanges the queue for `emptied`, so that the two arrays take turns and are not allocated anew.
    func take(into emptied: inout [Work]) {
        works.withLock { works in swap(&works, &emptied) }
    }

    /// Refuses all further work, unless there is some to be run first; then it returns false.
    func closeIfEmpty() -> Bool {
        works.withLock { works in
            guard works.isEmpty else { return false }
            isTaking.store(false, ordering: .releasing)
            return true
        }
    }
}
