internal import RxHTTP
internal import RxLite
internal import RxLoop

/// A transfer that waits for a free connection.
struct QueueEntry {
    let ticket: WaitingList<Transfer>.Ticket
    /// Since when, in nanoseconds of the loop.
    let start: UInt64
    /// Ends it when ``Timeouts/queue`` has passed.
    var limit: (any Cancellable)?
}

/// The origin that was looked up last, by the beginning of the URLs that lead to it.
struct LatestOrigin {
    let prefix: [UInt8]
    let origin: FairQueue<Transfer>.Origin
    let negotiation: Negotiation?
}

extension Multi {
    /// Takes a place for the transfer, or has it wait for one; false if it waits.
    func enter(_ transfer: Transfer) -> Bool {
        let found = origin(of: transfer)
        let origin = found.origin
        transfer.origin = origin
        transfer.negotiation = found.negotiation
        transfer.heldTime = 0
        if queue.enter(origin) {
            lead(transfer)
            return true
        }
        transfer.waiting = QueueEntry(ticket: queue.wait(transfer, at: origin), start: loop.nanoseconds)
        if let time = transfer.request.timeouts.queue { limitWaiting(transfer, time, after: time) }
        if queue.waitingCount == 1 { setQueueTimer() }
        return false
    }

    /// Ends a transfer that has been in the queue for `limit`, which is not before `time` has passed.
    private func limitWaiting(_ transfer: Transfer, _ limit: Duration, after time: Duration) {
        transfer.waiting?.limit = loop.schedule(after: time) { [self] in
            let left = limit - .nanoseconds(Int64(clamping: waitedTime(transfer).queued))
            guard left <= .zero else { return limitWaiting(transfer, limit, after: left) }
            perform(.timeOut(transfer, .queueTimeout))
        }
    }

    /// Opens further connections where requests have waited too long for one of those there are.
    func widenQueue() {
        queue.widen { hasWaited($0, connectionDelay) }
        if queue.waitingCount > 0 { setQueueTimer() }
    }

    func setQueueTimer() {
        let time = loop.nanoseconds.addingReportingOverflow(max(1_000_000, connectionDelay / 4))
        if !time.overflow { queueTimer?.start(at: time.partialValue) }
    }

    private func hasWaited(_ transfer: Transfer, _ nanoseconds: UInt64) -> Bool {
        transfer.waiting != nil && waitedTime(transfer).queued >= nanoseconds
    }

    /// The next transfer that has found a place.
    func nextWaiting() -> Transfer? {
        guard let transfer = queue.next({ hasWaited($0, connectionDelay / 2) }) else { return nil }
        if let waiting = transfer.waiting {
            waiting.limit?.cancel()
            let time = waitedTime(transfer)
            transfer.metrics.queued = .nanoseconds(Int64(clamping: time.queued))
            transfer.heldTime = time.held
        }
        transfer.waiting = nil
        lead(transfer)
        return transfer
    }

    /// Gives the transfer's place back, or takes it out of the queue. Its content is not wanted any more.
    func leave(_ transfer: Transfer) {
        transfer.content.source?.close()
        guard let waiting = transfer.waiting.take() else { return leavePlace(transfer) }
        waiting.limit?.cancel()
        transfer.negotiation = nil
        if let origin = transfer.origin.take() { queue.withdraw(waiting.ticket, from: origin) }
    }

    /// Ends all that wait.
    func emptyQueue(_ code: NetworkError.Code, _ message: String) {
        for transfer in queue.removeAll() {
            transfer.waiting?.limit?.cancel()
            transfer.waiting = nil
            transfer.origin = nil
            transfer.negotiation = nil
            transfer.content.source?.close()
            transfer.end(code, message)
        }
    }

    private func origin(of transfer: Transfer) -> LatestOrigin {
        let target = transfer.target
        if let latestOrigin, target.hasOrigin(latestOrigin.prefix) { return latestOrigin }
        let prefix = Array(target.text.utf8.prefix(target.originLength))
        let origin = Origin(transfer.request.url)
        let key =
            origin.map { "\($0.scheme)://\($0.host):\($0.port)" }
            ?? String(decoding: prefix, as: UTF8.self)
        let found = LatestOrigin(
            prefix: prefix, origin: queue.origin(key),
            negotiation: negotiation(with: key, of: origin, for: target))
        latestOrigin = found
        return found
    }
}
