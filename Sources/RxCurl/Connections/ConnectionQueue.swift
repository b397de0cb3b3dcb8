import RxHTTP
import RxLite
import RxLoop

/// Gives each transfer a place at its origin, or lets it wait for one: while the origin has its maximum
/// number of connections, and until it is known whether the connection of another transfer can be shared.
final class ConnectionQueue {
    // Without checks of exclusivity: touched only on the loop, which the calls assert; nothing that leads
    // back here is called while a variable is being changed.

    private let loop: EventLoop
    private let connectionDelay: UInt64
    @safe @exclusivity(unchecked) private var queue: FairQueue<Transfer>
    @safe @exclusivity(unchecked) private var negotiations: Negotiations
    @safe @exclusivity(unchecked) private var latest: LatestOrigin?
    /// Set while any transfer waits for a connection.
    @safe @exclusivity(unchecked) private var timer: LoopTimer?

    /// The origin that was looked up last, with the prefix of its URLs.
    private struct LatestOrigin {
        let prefix: [UInt8]
        let origin: FairQueue<Transfer>.Origin
        let negotiation: Negotiation?
    }

    init(
        on loop: EventLoop, _ configuration: CurlTransport.Configuration, _ settings: ConnectionSettings
    ) {
        self.loop = loop
        connectionDelay = settings.connectionDelay
        negotiations = Negotiations(settings)
        queue = FairQueue(
            perOrigin: configuration.maxConnectionsPerOrigin,
            atOnce: configuration.promptConnectionsPerOrigin,
            total: configuration.maxConnections)
    }

    // MARK: - The timer

    /// Starts a timer that calls `onTime` repeatedly while any transfer waits; `onTime` must call
    /// ``widen()``.
    func open(onTime: @escaping () -> Void) {
        timer = LoopTimer(on: loop, onFire: onTime)
        // Transfers that waited when a multi handle broke down keep waiting.
        if queue.waitingCount > 0 { setTimer() }
    }

    func close() {
        timer?.close()
        timer = nil
    }

    private func setTimer() {
        let time = loop.nanoseconds.addingReportingOverflow(max(1_000_000, connectionDelay / 4))
        if !time.overflow { timer?.start(at: time.partialValue) }
    }

    /// Opens more connections where transfers have waited too long for a free one.
    func widen() {
        loop.assertCurrent()
        queue.widen { hasWaited($0, connectionDelay) }
        if queue.waitingCount > 0 { setTimer() }
    }

    // MARK: - Entering

    /// Gives the transfer a place, or lets it wait for one; false if it waits.
    func enter(_ transfer: Transfer) -> Bool {
        loop.assertCurrent()
        let found = latestOrigin(for: transfer)
        let origin = found.origin
        transfer.queueState.origin = origin
        // Its connection speaks HTTP/1.1, whatever the origin prefers.
        transfer.queueState.negotiation = transfer.request.asksForUpgrade ? nil : found.negotiation
        transfer.queueState.heldTime = 0
        if queue.enter(origin) {
            lead(transfer)
            return true
        }
        let now = loop.nanoseconds
        transfer.queueState.waiting = QueueState.Waiting(
            ticket: queue.wait(transfer, at: origin), start: now,
            heldBefore: transfer.queueState.negotiation?.held.total(at: now) ?? 0)
        limitWaiting(transfer)
        if queue.waitingCount == 1 { setTimer() }
        return false
    }

    private func latestOrigin(for transfer: Transfer) -> LatestOrigin {
        let target = transfer.target
        if let latest, target.hasOrigin(latest.prefix) { return latest }
        let prefix = Array(target.text.utf8.prefix(target.originLength))
        let origin = Origin(transfer.request.url)
        let key =
            origin.map { "\($0.scheme)://\($0.host):\($0.port)" }
            ?? String(decoding: prefix, as: UTF8.self)
        let found = LatestOrigin(
            prefix: prefix, origin: queue.origin(key),
            negotiation: negotiations.negotiation(with: key, of: origin, for: target))
        latest = found
        return found
    }

    /// The next transfer that has got a place and whose time limits have not passed while it waited for the
    /// connection of another one.
    func next() -> Transfer? {
        loop.assertCurrent()
        // Half of what ``widen()`` asks for: the places that it has added stay for those who have waited this long.
        while let transfer = queue.next({ hasWaited($0, connectionDelay / 2) }) {
            let time = waitedTime(transfer)
            transfer.queueState.waiting.take()?.limitTimer?.cancel()
            if let code = transfer.timing.clock.limit(passedConnectingFor: time.held) {
                // It does not count as a running transfer of the origin.
                transfer.queueState.negotiation = nil
                transfer.end(code, transfer.text(of: code))
                leave(transfer)
                continue
            }
            transfer.metrics.queued = .nanoseconds(Int64(clamping: time.queued))
            transfer.queueState.heldTime = time.held
            lead(transfer)
            return transfer
        }
        return nil
    }

    // MARK: - Waiting

    /// Ends a waiting transfer if a limit has passed, and otherwise schedules the next check. The limit of
    /// the queue applies, and the limits for connecting apply to the time spent waiting for the connection of
    /// another transfer.
    private func limitWaiting(_ transfer: Transfer) {
        loop.assertCurrent()
        let queueLimit = transfer.request.timeouts.limits.queue
        let negotiation = transfer.queueState.negotiation
        let mayBeHeld = negotiation?.mayHold == true
        guard mayBeHeld || !queueLimit.isNone else { return }
        let (held, queued) = waitedTime(transfer)
        if let code = transfer.timing.clock.limit(passedConnectingFor: held) {
            return transfer.multi.perform(.timeOut(transfer, code))
        }
        guard queued < queueLimit.nanoseconds else {
            return transfer.multi.perform(.timeOut(transfer, .queueTimeout))
        }
        // Only one of the two times advances now, but this may change before the next check.
        var times = (moving: queueLimit.nanoseconds - queued, resting: UInt64.max)
        if mayBeHeld { times.resting = transfer.timing.clock.connectingLimit - held }
        if negotiation?.held.isRunning == true { swap(&times.moving, &times.resting) }
        let next = min(times.moving, max(times.resting, Self.shortestCheck))
        guard next < Timeouts.Limit.none.nanoseconds / 2 else { return }
        // The multi handle of the transfer keeps this queue.
        transfer.queueState.waiting?.limitTimer = loop.schedule(after: .nanoseconds(Int64(next))) {
            if transfer.queueState.waiting != nil { transfer.multi.queue.limitWaiting(transfer) }
        }
    }

    /// The minimum time until a limit is checked whose time does not advance, in nanoseconds.
    private static let shortestCheck: UInt64 = 10_000_000

    private func hasWaited(_ transfer: Transfer, _ nanoseconds: UInt64) -> Bool {
        transfer.queueState.waiting != nil && waitedTime(transfer).queued >= nanoseconds
    }

    /// How long a transfer has waited, in nanoseconds: for the connection of another transfer, which counts
    /// as connecting, and in the queue.
    private func waitedTime(_ transfer: Transfer) -> (held: UInt64, queued: UInt64) {
        guard let waiting = transfer.queueState.waiting else { return (0, 0) }
        let now = max(waiting.start, loop.nanoseconds)
        let time = now - waiting.start
        let total = transfer.queueState.negotiation?.held.total(at: now) ?? 0
        let held = min(time, total - waiting.heldBefore)
        return (held, time - held)
    }

    // MARK: - Waiting for the connection of another transfer

    /// If the transfer is the first one at its origin, lets others wait for its connection.
    private func lead(_ transfer: Transfer) {
        guard let origin = transfer.queueState.origin,
            transfer.queueState.negotiation?.enter(transfer, at: loop.nanoseconds) == true
        else { return }
        queue.hold(origin)
    }

    /// Ends the wait of others for the connection of a transfer: it is made, or failed.
    func settle(_ transfer: Transfer) {
        loop.assertCurrent()
        guard let origin = transfer.queueState.origin,
            transfer.queueState.negotiation?.settle(transfer, at: loop.nanoseconds) == true
        else { return }
        queue.release(origin)
    }

    /// Lets another transfer connect in place of a cancelled one.
    func yield(_ transfer: Transfer) {
        loop.assertCurrent()
        guard let origin = transfer.queueState.origin,
            transfer.queueState.negotiation?.yield(transfer, at: loop.nanoseconds) == true
        else { return }
        queue.release(origin)
    }

    /// Records that requests to the origin of the transfer share connections from now on.
    func multiplex(_ transfer: Transfer) {
        loop.assertCurrent()
        if let origin = transfer.queueState.origin { queue.multiplex(origin) }
    }

    // MARK: - Leaving

    /// Gives back the place of the transfer, or removes it from the queue. Closes the source of its content.
    func leave(_ transfer: Transfer) {
        loop.assertCurrent()
        transfer.content.source?.close()
        guard let waiting = transfer.queueState.waiting.take() else { return freePlace(transfer) }
        waiting.limitTimer?.cancel()
        transfer.queueState.negotiation = nil
        if let origin = transfer.queueState.origin.take() { queue.withdraw(waiting.ticket, from: origin) }
    }

    private func freePlace(_ transfer: Transfer) {
        settle(transfer)
        transfer.queueState.negotiation.take()?.leave()
        if let origin = transfer.queueState.origin.take() { queue.leave(origin) }
    }

    /// Ends all waiting transfers.
    func removeAll(_ code: NetworkError.Code, _ message: String) {
        loop.assertCurrent()
        for transfer in queue.removeAll() {
            transfer.queueState.waiting?.limitTimer?.cancel()
            transfer.queueState.waiting = nil
            transfer.queueState.origin = nil
            transfer.queueState.negotiation = nil
            transfer.content.source?.close()
            transfer.end(code, message)
        }
    }
}

/// What the ``ConnectionQueue`` knows of a transfer, and alone changes.
struct QueueState {
    /// A transfer that waits for a free connection.
    struct Waiting {
        let ticket: WaitingList<Transfer>.Ticket
        /// The time when the wait began, in nanoseconds of the loop.
        let start: UInt64
        /// How long the requests to its origin had been held by then (``HeldTime``).
        let heldBefore: UInt64
        /// Set for the next check of the limits.
        var limitTimer: (any Cancellable)?
    }

    /// The origin at which the transfer has a place or waits for one.
    var origin: FairQueue<Transfer>.Origin?
    var waiting: Waiting?
    /// Set from ``ConnectionQueue/enter(_:)`` on, until the transfer leaves the queue or its place; `nil` if
    /// the version is not negotiated, and for a request that asks for another protocol.
    var negotiation: Negotiation?
    /// How long the transfer waited for the connection of another one, in nanoseconds; part of the time to
    /// connect.
    var heldTime: UInt64 = 0
}

/// The total time for which requests to an origin were held, in nanoseconds.
struct HeldTime {
    private var start: UInt64?
    private var past: UInt64 = 0

    /// Whether requests are held now.
    var isRunning: Bool { start != nil }

    mutating func begin(at now: UInt64) { if start == nil { start = now } }

    mutating func end(at now: UInt64) {
        if let start = start.take() { past += now - min(now, start) }
    }

    /// The total time up to `now`. The held time of one request is the difference from the total at its
    /// arrival.
    func total(at now: UInt64) -> UInt64 { past + (start.map { now - min(now, $0) } ?? 0) }
}
