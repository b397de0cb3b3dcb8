internal import RxHTTP
internal import RxLoop

extension Multi {
    /// Whether the version of a request's connection is found out only when there is one.
    func negotiates(_ target: CheckedURL) -> Bool { settings.httpVersion == .http2 && !target.isPlain }

    /// Whether a request looks out for a connection that is being made (`CURLOPT_PIPEWAIT`). Without TLS only one that
    /// speaks HTTP/2 from the first byte does.
    func expectsSharing(_ transfer: Transfer) -> Bool {
        settings.httpVersion == .http2PriorKnowledge || transfer.negotiation?.expectsSharing == true
    }

    /// Whether a request goes out over HTTP/1.1, as far as that is known. An origin that has not been heard of is taken
    /// for one that speaks the highest version there is.
    func speaksHTTP1(_ transfer: Transfer) -> Bool {
        switch settings.httpVersion {
        case .automatic, .http1: true
        case .http2, .http3, .http3Only:
            transfer.target.isPlain || transfer.negotiation?.version.map { !$0.isMultiplexed } ?? false
        case .http2PriorKnowledge: false
        }
    }

    /// The state of the negotiation with an origin; `nil` if its version is not negotiated.
    func negotiation(with key: String, of origin: Origin?, for target: CheckedURL) -> Negotiation? {
        guard negotiates(target) else { return nil }
        if let known = negotiations[key] { return known }
        if negotiations.count >= Self.knownOrigins {
            negotiations = negotiations.filter { !$0.value.isIdle }
        }
        let made = Negotiation(place: origin.flatMap(AlternativeTable.Place.init))
        negotiations[key] = made
        return made
    }

    private static let knownOrigins = 1024

    /// Has others wait for the connection of a transfer that found a place, if it is the first one there.
    func lead(_ transfer: Transfer) {
        guard let origin = transfer.origin,
            transfer.negotiation?.enter(transfer, at: loop.nanoseconds) == true
        else { return }
        queue.hold(origin)
    }

    /// Lets those go on that waited for the connection of a transfer: there is one, or there will be none.
    func settle(_ transfer: Transfer) {
        guard let origin = transfer.origin,
            transfer.negotiation?.settle(transfer, at: loop.nanoseconds) == true
        else { return }
        queue.release(origin)
    }

    /// A transfer gives its place at an origin back.
    func leavePlace(_ transfer: Transfer) {
        settle(transfer)
        transfer.negotiation.take()?.leave()
        if let origin = transfer.origin.take() { queue.leave(origin) }
    }

    /// Has another one connect in place of a transfer that was cancelled.
    func yield(_ transfer: Transfer) {
        guard let origin = transfer.origin,
            transfer.negotiation?.yield(transfer, at: loop.nanoseconds) == true
        else { return }
        queue.release(origin)
    }

    /// How long a transfer has waited, in nanoseconds: for another one's connection, which is a part of connecting, and
    /// in the queue.
    func waitedTime(_ transfer: Transfer) -> (held: UInt64, queued: UInt64) {
        guard let waiting = transfer.waiting else { return (0, 0) }
        let now = max(waiting.start, loop.nanoseconds)
        let time = now - waiting.start
        let held = min(time, (transfer.negotiation?.held.total(at: now) ?? 0) - waiting.heldBefore)
        return (held, time - held)
    }
}
