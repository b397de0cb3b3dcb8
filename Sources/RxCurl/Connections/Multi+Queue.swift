internal import RxHTTP
internal import RxLite
internal import RxLoop

/// What there is to know of a transfer that waits for a free connection.
struct Waiting {
    let ticket: WaitingList<Transfer>.Ticket
    /// Since when, in nanoseconds of the loop.
    let start: UInt64
    /// Ends it when ``Timeouts/queue`` has passed.
    let limit: (any Cancellable)?
}

/// The origin that was looked up last, by the beginning of the URLs that lead to it.
struct LatestOrigin {
    let prefix: [UInt8]
    let origin: FairQueue<Transfer>.Origin
}

extension Multi {
    /// Takes a place for the transfer, or has it wait for one; false if it waits.
    func enter(_ transfer: Transfer) -> Bool {
        let origin = origin(of: transfer)
        transfer.origin = origin
        if queue.enter(origin) { return true }
        var limit: (any Cancellable)?
        if let time = transfer.request.timeouts.queue {
            limit = loop.schedule(after: time) { self.perform(.timeOut(transfer, .queueTimeout)) }
        }
        transfer.waiting = Waiting(
            ticket: queue.wait(transfer, at: origin), start: loop.nanoseconds, limit: limit)
        if queue.waitingCount == 1 { setQueueTimer() }
        return false
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
        transfer.waiting.map { loop.nanoseconds - $0.start >= nanoseconds } ?? false
    }

    /// The next transfer that has found a place.
    func nextWaiting() -> Transfer? {
        guard let transfer = queue.next({ hasWaited($0, connectionDelay / 2) }) else { return nil }
        if let waiting = transfer.waiting {
            waiting.limit?.cancel()
            transfer.metrics.queued = .nanoseconds(Int64(clamping: loop.nanoseconds - waiting.start))
        }
        transfer.waiting = nil
        return transfer
    }

    /// Gives the transfer's place back, or takes it out of the queue. Its content is not wanted any more.
    func leave(_ transfer: Transfer) {
        transfer.content.source?.close()
        guard let origin = transfer.origin else { return }
        transfer.origin = nil
        guard let waiting = transfer.waiting else { return queue.leave(origin) }
        transfer.waiting = nil
        waiting.limit?.cancel()
        queue.withdraw(waiting.ticket, from: origin)
    }

    /// Ends all that wait.
    func emptyQueue(_ code: NetworkError.Code, _ message: String) {
        for transfer in queue.removeAll() {
            transfer.waiting?.limit?.cancel()
            transfer.waiting = nil
            transfer.origin = nil
            transfer.content.source?.close()
            transfer.end(code, message)
        }
    }

    private func origin(of transfer: Transfer) -> FairQueue<Transfer>.Origin {
        let target = transfer.target
        if let latestOrigin, target.hasOrigin(latestOrigin.prefix) { return latestOrigin.origin }
        let prefix = Array(target.text.utf8.prefix(target.originLength))
        let key =
            Origin(transfer.request.url).map { "\($0.scheme)://\($0.host):\($0.port)" }
            ?? String(decoding: prefix, as: UTF8.self)
        let origin = queue.origin(key)
        latestOrigin = LatestOrigin(prefix: prefix, origin: origin)
        return origin
    }
}
