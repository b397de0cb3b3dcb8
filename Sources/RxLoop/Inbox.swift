import Synchronization

/// What has been posted to a loop and not run yet.
final class Inbox: Sendable {
    typealias Work = @Sendable () -> Void

    private struct Contents {
        var works: [Work] = []
        var isOpen = true
    }

    private let contents = Mutex(Contents())

    /// Queues `work`; false if the inbox is closed and the work is dropped.
    ///
    /// - Parameter wake: tells whoever drains the queue, called if it was empty. Under the lock, so that the
    ///   inbox cannot be closed, and what wakes its reader freed, in between.
    func post(_ work: @escaping Work, wake: () -> Void) -> Bool {
        contents.withLock { contents in
            guard contents.isOpen else { return false }
            contents.works.append(work)
            if contents.works.count == 1 { wake() }
            return true
        }
    }

    var isEmpty: Bool { contents.withLock { $0.works.isEmpty } }

    /// Exchanges the queue for `emptied`, so that the two arrays take turns and are not allocated anew.
    func take(into emptied: inout [Work]) {
        contents.withLock { contents in swap(&contents.works, &emptied) }
    }

    /// Refuses all further work and hands over what is there.
    func close() -> [Work] {
        contents.withLock { contents in
            let rest = contents.works
            contents.works = []
            contents.isOpen = false
            return rest
        }
    }
}
