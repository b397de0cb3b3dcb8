internal import RxHTTP

/// The version that an origin negotiates over TLS, as far as it is known (ALPN, RFC 7301).
///
/// As long as it is not known, only one request connects, and the others wait for the end of its handshake: over HTTP/2
/// they share the connection. curl's own way of waiting (`CURLOPT_PIPEWAIT`) does not tell handshake and response apart
/// where the server speaks HTTP/1.1, and keeps the others waiting for the response.
final class Negotiation {
    // Touched on the loop only.

    /// Where the origin is.
    let place: AlternativeTable.Place?
    /// The version of the latest response; `nil` before the first.
    private(set) var version: HTTPVersion?
    /// The transfer that connects while others wait.
    private weak var leader: Transfer?
    /// Whether a connection has come about, or failed to, so that nobody is waited for.
    private var isSettled = false
    /// For how long others have waited for that.
    private(set) var held = HeldTime()
    /// How many transfers are under way.
    private var running = 0

    init(place: AlternativeTable.Place?) { self.place = place }

    /// Whether a request is to look out for a connection that is being made, since it will be shared. Before the first
    /// response that is so for those beyond what a connection of HTTP/2 mostly takes: over HTTP/1.1 they had to wait.
    var expectsSharing: Bool { version?.isMultiplexed ?? (running > Self.streamsPerConnection) }

    /// Whether nobody is under way, so that it may be forgotten.
    var isIdle: Bool { running == 0 }

    private static let streamsPerConnection = 100

    /// Whether others may still have to wait for a connection that is being made.
    var mayHold: Bool { version == nil }

    /// A transfer has found a place.
    ///
    /// - Parameter now: in nanoseconds of the loop, as in the other calls.
    /// - Returns: whether the others are to wait until ``settle(_:at:)`` or ``leave(_:isOver:at:)`` says otherwise.
    func enter(_ transfer: Transfer, at now: UInt64) -> Bool {
        running += 1
        guard version == nil, leader == nil, !isSettled else { return false }
        leader = transfer
        held.begin(at: now)
        return true
    }

    /// The transfer has a connection, or failed to get one.
    ///
    /// - Returns: whether the others have waited for that.
    func settle(_ transfer: Transfer, at now: UInt64) -> Bool {
        guard leader === transfer else { return false }
        isSettled = true
        return yield(transfer, at: now)
    }

    /// The transfer was cancelled; if it was about to connect, another one is to do that.
    ///
    /// - Returns: whether the others have waited.
    func yield(_ transfer: Transfer, at now: UInt64) -> Bool {
        guard leader === transfer else { return false }
        leader = nil
        held.end(at: now)
        return true
    }

    /// A transfer gives its place back.
    func leave() {
        running -= 1
        if running == 0 { isSettled = false }
    }

    /// A response came in that version.
    func note(_ version: HTTPVersion) { self.version = version }
}

extension HTTPVersion {
    /// Whether many requests share a connection at a time.
    var isMultiplexed: Bool { self >= .http2 }
}
