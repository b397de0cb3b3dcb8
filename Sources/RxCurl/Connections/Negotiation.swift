internal import RxHTTP

/// The HTTP version that an origin negotiates over TLS, as far as it is known (ALPN, RFC 7301).
///
/// Until the version is known, only one request connects and the others wait for the end of its handshake:
/// over HTTP/2 they share the connection. curl's option for this (`CURLOPT_PIPEWAIT`) does not distinguish
/// handshake and response if the server speaks HTTP/1.1, and lets the others wait for the response.
final class Negotiation {
    // Touched on the loop only.

    /// The host and port of the origin.
    let place: AlternativeTable.Place?
    /// The version of the latest response; `nil` before the first one.
    private(set) var version: HTTPVersion?
    /// The transfer that connects while the others wait.
    private weak var leader: Transfer?
    /// Whether a connection has been made or has failed, so that no transfer waits any more.
    private var isSettled = false
    /// How long other transfers have waited for this.
    private(set) var held = HeldTime()
    /// The number of running transfers.
    private var running = 0

    init(place: AlternativeTable.Place?) { self.place = place }

    /// Whether a request should wait for a connection that is being made, because it will be shared. Before
    /// the first response, this is true only for requests beyond the usual capacity of an HTTP/2 connection,
    /// because with HTTP/1.1 they would wait for the response to another request.
    var expectsSharing: Bool { version?.isMultiplexed ?? (running > Self.streamsPerConnection) }

    /// Whether no transfer is running, so that the negotiation may be discarded.
    var isIdle: Bool { running == 0 }

    private static let streamsPerConnection = 100

    /// Whether other transfers may still have to wait for a connection that is being made.
    var mayHold: Bool { version == nil }

    /// Notes that a transfer has got a place.
    ///
    /// - Parameter now: the loop's time in nanoseconds, as in the other calls.
    /// - Returns: whether the others must wait until ``settle(_:at:)`` or ``yield(_:at:)`` returns true.
    func enter(_ transfer: Transfer, at now: UInt64) -> Bool {
        running += 1
        guard version == nil, leader == nil, !isSettled else { return false }
        leader = transfer
        held.begin(at: now)
        return true
    }

    /// Notes that the transfer has a connection, or failed to get one.
    ///
    /// - Returns: whether the others have waited for it.
    func settle(_ transfer: Transfer, at now: UInt64) -> Bool {
        guard leader === transfer else { return false }
        isSettled = true
        return yield(transfer, at: now)
    }

    /// Notes that the transfer was cancelled; if it was connecting, another one does so instead.
    ///
    /// - Returns: whether the others have waited for it.
    func yield(_ transfer: Transfer, at now: UInt64) -> Bool {
        guard leader === transfer else { return false }
        leader = nil
        held.end(at: now)
        return true
    }

    /// Notes that a transfer has given back its place.
    func leave() {
        running -= 1
        if running == 0 { isSettled = false }
    }

    /// Notes the version of a response.
    func note(_ version: HTTPVersion) { self.version = version }
}

extension HTTPVersion {
    /// Whether many requests share a connection at a time.
    var isMultiplexed: Bool { self >= .http2 }
}
