import RxHTTP

/// The HTTP version that an origin negotiates over TLS, as far as it is known (ALPN, RFC 7301).
///
/// Until the version is known, only one request connects and the others wait for the end of its handshake:
/// over HTTP/2 they share the connection. curl's option for this (`CURLOPT_PIPEWAIT`) does not distinguish
/// handshake and response if the server speaks HTTP/1.1, and lets the others wait for the response.
final class Negotiation {
    // Touched on the loop only.

    /// The origin; `nil` if it is unknown, or not reached over TLS.
    let origin: AlternativeTable.HTTPSOrigin?
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

    init(origin: AlternativeTable.HTTPSOrigin?) { self.origin = origin }

    /// Whether a request should wait for a connection that is being made, because it will be shared. Before
    /// the first response, this is true only for requests beyond the usual capacity of an HTTP/2 connection,
    /// because with HTTP/1.1 they would wait for the response to another request.
    var expectsSharing: Bool { version?.isMultiplexed ?? (running > Self.streamsPerConnection) }

    /// Whether no transfer is running, so that the negotiation may be discarded.
    var isIdle: Bool { running == 0 }

    /// As in ``FairQueue/multiplex(_:)``.
    private static let streamsPerConnection = 100

    /// Whether other transfers may still have to wait for a connection that is being made.
    var mayHold: Bool { version == nil }

    /// Records that a transfer has got a place.
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

    /// Records that the transfer has a connection, or failed to get one.
    ///
    /// - Returns: whether the others have waited for it.
    func settle(_ transfer: Transfer, at now: UInt64) -> Bool {
        guard leader === transfer else { return false }
        isSettled = true
        return yield(transfer, at: now)
    }

    /// Records that the transfer was cancelled; if it was connecting, another one does so instead.
    ///
    /// - Returns: whether the others have waited for it.
    func yield(_ transfer: Transfer, at now: UInt64) -> Bool {
        guard leader === transfer else { return false }
        leader = nil
        held.end(at: now)
        return true
    }

    /// Records that a transfer has given back its place.
    func leave() {
        running -= 1
        if running == 0 { isSettled = false }
    }

    /// Records the version of a response.
    func record(_ version: HTTPVersion) { self.version = version }
}

extension HTTPVersion {
    /// Whether many requests share a connection at a time.
    var isMultiplexed: Bool { self >= .http2 }
}

/// The negotiations of the known origins.
struct Negotiations {
    private let settings: ConnectionSettings
    /// By the key of the origin in the queue.
    private var known: [String: Negotiation] = [:]

    /// The number of origins above which idle ones are dropped, as in ``FairQueue``.
    private static let limit = 1024

    init(_ settings: ConnectionSettings) { self.settings = settings }

    /// The negotiation of an origin; `nil` if its version is not negotiated.
    mutating func negotiation(with key: String, of origin: Origin?, for target: CheckedURL) -> Negotiation? {
        guard settings.negotiates(target) else { return nil }
        if let negotiation = known[key] { return negotiation }
        if known.count >= Self.limit { known = known.filter { !$0.value.isIdle } }
        let made = Negotiation(origin: origin.flatMap(AlternativeTable.HTTPSOrigin.init))
        known[key] = made
        return made
    }
}

extension Transfer {
    /// Whether the transfer waits for a connection that is being made (`CURLOPT_PIPEWAIT`). Without TLS, only
    /// HTTP/2 with prior knowledge does.
    var expectsSharing: Bool {
        !request.asksForUpgrade
            && (multi.settings.httpVersion == .http2PriorKnowledge
                || queueState.negotiation?.expectsSharing == true)
    }

    /// Whether the request is sent over HTTP/1.1, as far as this is known. An unknown origin is assumed to
    /// speak the highest version.
    var speaksHTTP1: Bool {
        switch multi.settings.httpVersion {
        case .automatic, .http1: true
        case .http2, .http3, .http3Only:
            target.isPlain || queueState.negotiation?.version.map { !$0.isMultiplexed } ?? false
        case .http2PriorKnowledge: false
        }
    }

    /// Whether other transfers may use the connection at the same time.
    var isMultiplexed: Bool { response.httpVersion?.isMultiplexed ?? false }

    /// Records for other transfers which version the origin speaks.
    func recordVersion() {
        guard let version = response.httpVersion else { return }
        queueState.negotiation?.record(version)
        if isMultiplexed { multi.queue.multiplex(self) }
        recordRace()
    }
}

extension ConnectionSettings {
    /// Whether the version is only known once there is a connection.
    func negotiates(_ target: CheckedURL) -> Bool { httpVersion == .http2 && !target.isPlain }
}
