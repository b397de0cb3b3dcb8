internal import RxHTTP
internal import RxLite
internal import RxLoop

/// A transfer that waits for a free connection.
struct QueueEntry {
    let ticket: WaitingList<Transfer>.Ticket
    /// Since when, in nanoseconds of the loop.
    let start: UInt64
    /// How long its origin's requests had been held by then (``HeldTime``).
    let heldBefore: UInt64
    /// Ends it when a limit has passed.
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
        let now = loop.nanoseconds
        transfer.waiting = QueueEntry(
            ticket: queue.wait(transfer, at: origin), start: now,
            heldBefore: transfer.negotiation?.held.total(at: now) ?? 0)
        limitWaiting(transfer)
        if queue.waitingCount == 1 { setQueueTimer() }
        return false
    }

    /// Ends a waiting transfer if a limit has passed, and otherwise looks again when one may have: that of the queue, or,
    /// for the time that another one's connection was waited for, one of those that go across connecting.
    private func limitWaiting(_ transfer: Transfer) {
        let queueLimit = transfer.request.timeouts.limits.queue
        let mayBeHeld = transfer.negotiation?.mayHold == true
        guard mayBeHeld || !queueLimit.isNone else { return }
        let (held, queued) = waitedTime(transfer)
        if let code = transfer.timing.clock.limit(passedConnectingFor: held) {
            return perform(.timeOut(transfer, code))
        }
        guard queued < queueLimit.nanoseconds else { return perform(.timeOut(transfer, .queueTimeout)) }
        // One of the times moves on now; which one may change before the next look.
        var times = (moving: queueLimit.nanoseconds - queued, resting: UInt64.max)
        if mayBeHeld { times.resting = transfer.timing.clock.connectingLimit - held }
        if transfer.negotiation?.held.isRunning == true { swap(&times.moving, &times.resting) }
        let next = min(times.moving, max(times.resting, Self.shortestLook))
        guard next < Timeouts.Limit.none.nanoseconds / 2 else { return }
        transfer.waiting?.limit = loop.schedule(after: .nanoseconds(Int64(next))) { [self] in
            if transfer.waiting != nil { limitWaiting(transfer) }
        }
    }

    /// How soon a limit is looked at whose time stands still, in nanoseconds.
    private static let shortestLook: UInt64 = 10_000_000

    /// Opens further connections where requests have waited too long for one of those there are.
    func widenQueue() {
        queue.widen { hasWaited($0, settings.connectionDelay) }
        if queue.waitingCount > 0 { setQueueTimer() }
    }

    func setQueueTimer() {
        let time = loop.nanoseconds.addingReportingOverflow(max(1_000_000, settings.connectionDelay / 4))
        if !time.overflow { queueTimer?.start(at: time.partialValue) }
    }

    private func hasWaited(_ transfer: Transfer, _ nanoseconds: UInt64) -> Bool {
        transfer.waiting != nil && waitedTime(transfer).queued >= nanoseconds
    }

    /// The next transfer that has found a place, and has not waited for another one's connection for too long.
    func nextWaiting() -> Transfer? {
        while let transfer = queue.next({ hasWaited($0, settings.connectionDelay / 2) }) {
            let time = waitedTime(transfer)
            transfer.waiting.take()?.limit?.cancel()
            if let code = transfer.timing.clock.limit(passedConnectingFor: time.held) {
                // It has not become one of those under way there.
                transfer.negotiation = nil
                transfer.end(code, transfer.text(of: code))
                leave(transfer)
                continue
            }
            transfer.metrics.queued = .nanoseconds(Int64(clamping: time.queued))
            transfer.heldTime = time.held
            lead(transfer)
            return transfer
        }
        return nil
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
