import Synchronization

/// The teardowns that a closed stream has left to do in other lanes, before another stream may take its place.
@usableFromInline
final class PendingTeardown: Sendable {
    private struct Contents {
        var left = 0
        var successors: [Callback] = []
        /// Work that waits until the successor has begun.
        var followUps: [Callback] = []
        /// Whether another teardown, which this one is a part of, runs those.
        var isPart = false
    }

    private let contents = Mutex(Contents())

    @usableFromInline var isOver: Bool { contents.withLock { $0.left == 0 } }

    /// Runs `work` after the last teardown, in its lane; now if that is over.
    @usableFromInline
    func whenOver(_ work: @escaping @Sendable () -> Void) {
        let isOver = contents.withLock { contents in
            if contents.left > 0 { contents.successors.append(Callback(call: work)) }
            return contents.left == 0
        }
        if isOver { work() }
    }

    /// Runs `work` once the successor has begun, or could have.
    fileprivate func afterSuccessor(_ work: @escaping @Sendable () -> Void) {
        contents.withLock { $0.followUps.append(Callback(call: work)) }
    }

    /// Has what waits for the successor run in `lane`, after the successor, which a call of ``whenOver(_:)`` before
    /// this one starts there.
    @usableFromInline
    func followUp(in lane: Lane) {
        // A stream on another scheduler begins when the lane is left; what runs after that is added last.
        whenOver { lane.enqueue { lane.afterLeaving { self.runFollowUps() } } }
    }

    private func runFollowUps() {
        let followUps = contents.withLock { contents -> [Callback] in
            guard !contents.isPart else { return [] }
            defer { contents.followUps = [] }
            return contents.followUps
        }
        for followUp in followUps { followUp.call() }
    }

    fileprivate var hasFollowUps: Bool { contents.withLock { !$0.followUps.isEmpty } }

    func begin() { contents.withLock { $0.left += 1 } }

    func end() {
        let successors = contents.withLock { contents -> [Callback] in
            contents.left -= 1
            guard contents.left == 0 else { return [] }
            defer { contents.successors = [] }
            return contents.successors
        }
        for successor in successors { successor.call() }
    }
}

extension Lane {
    /// Whether and how a stream that closes now is awaited by its successor. Accessed only from inside the lane.
    enum Succession {
        case none
        /// No teardown in another lane so far.
        case awaited
        case tearingDown(PendingTeardown)
    }

    /// Runs `work` once the stream that replaces the one which is being closed now has begun; now if none replaces it.
    /// Only from inside the lane. ``Activity`` and the client's running requests count down by it, so that an indicator
    /// does not flicker.
    package func afterSuccessor(_ work: @escaping @Sendable () -> Void) {
        guard let teardown = currentTeardown else { return work() }
        teardown.afterSuccessor(work)
    }

    /// Runs `close`, whose teardowns in other lanes a successor awaits. `nil` if there are none.
    fileprivate func pendingTeardown(after close: () -> Void) -> PendingTeardown? {
        let former = unsafe succession
        unsafe succession = .awaited
        defer { unsafe succession = former }
        close()
        guard case .tearingDown(let teardown) = unsafe succession else { return nil }
        return teardown
    }

    /// What a teardown in another lane has to join, if a successor awaits it.
    fileprivate var currentTeardown: PendingTeardown? {
        switch unsafe succession {
        case .none: return nil
        case .tearingDown(let teardown): return teardown
        case .awaited:
            let teardown = PendingTeardown()
            unsafe succession = .tearingDown(teardown)
            return teardown
        }
    }
}

extension Scope {
    /// Closes the scope of a stream that another one will follow. Returns what is left to do in other lanes; `nil` if
    /// everything has been torn down.
    @usableFromInline
    func closeBeforeSuccessor() -> PendingTeardown? {
        guard let teardown = lane.pendingTeardown(after: close) else { return nil }
        guard teardown.isOver else { return teardown }
        if teardown.hasFollowUps { teardown.followUp(in: lane) }
        return nil
    }

    /// Cancels the source that runs in this scope's lane for a stream in `lane`, which is being closed there.
    @usableFromInline
    func cancel(with lane: Lane) {
        guard let teardown = lane.currentTeardown else { return cancel() }
        teardown.begin()
        self.lane.markCancelled()
        // Also if the source has ended: its teardowns may still be running, and come first.
        self.lane.enter {
            let rest = self.lane.pendingTeardown(after: self.close)
            rest?.begin(within: teardown)
            teardown.end()
        }
    }

    /// Has a successor that awaits the stream in this scope await `teardown` as well.
    @usableFromInline
    func pass(_ teardown: PendingTeardown) {
        lane.currentTeardown.map { teardown.begin(within: $0) }
    }
}

extension PendingTeardown {
    /// Makes this one a part of `whole`.
    fileprivate func begin(within whole: PendingTeardown) {
        whole.begin()
        contents.withLock { $0.isPart = true }
        whenOver {
            whole.adoptFollowUps(of: self)
            whole.end()
        }
    }

    private func adoptFollowUps(of part: PendingTeardown) {
        let followUps = part.contents.withLock { contents in
            defer { contents.followUps = [] }
            return contents.followUps
        }
        contents.withLock { $0.followUps += followUps }
    }
}
