#if Metrics
import CoreMetrics
import RxHTTP
import Synchronization

/// Records the connections of a transport.
final class ConnectionMetrics: Sendable {
    /// Whom a connection leads to.
    fileprivate struct Peer: Hashable {
        /// `nil` for all peers beyond the limit.
        let origin: Origin?
        let address: String?

        var dimensions: [(String, String)] {
            var dimensions = origin?.dimensions ?? []
            if let address { dimensions.append(("network.peer.address", address)) }
            return dimensions
        }
    }

    /// The metrics of the connections to one peer.
    fileprivate struct Meters {
        let active: any MeterHandler
        let idle: any MeterHandler
        let lifetime: any TimerHandler

        init(_ peer: Peer, _ factory: any MetricsFactory) {
            func meter(_ state: String) -> any MeterHandler {
                factory.makeMeter(
                    label: ClientMetric.openConnections.rawValue,
                    dimensions: peer.dimensions + [("http.connection.state", state)])
            }
            active = meter("active")
            idle = meter("idle")
            lifetime = factory.makeTimer(
                label: ClientMetric.connectionDuration.rawValue, dimensions: peer.dimensions)
            lifetime.preferDisplayUnit(.seconds)
        }
    }

    fileprivate struct Contents {
        var meters: [Peer: Meters] = [:]
        /// The open connections that were opened while they were recorded.
        var open: [Int: OpenConnection] = [:]
    }

    /// The number of peers that have separate metrics: a host may have any number of addresses. The documentation of
    /// ``ClientMetric/openConnections`` and the page `Metrics.md` say 1000.
    fileprivate static let peerLimit = 1000

    private let factory: any MetricsFactory
    private let contents = Mutex(Contents())

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// With the end of the recording, its connections do not count any more. Only the subscription that
    /// ``MetricsInstrument/stop()`` cancels holds this.
    deinit {
        contents.withLock { contents in
            for connection in contents.open.values { connection.meter.decrement(by: 1) }
        }
    }

    func receive(_ event: ConnectionEvent) {
        contents.withLock { contents in
            switch event.kind {
            case .opened:
                let meters = contents.meters(
                    of: Peer(origin: event.origin, address: event.remoteAddress), factory)
                contents.open[event.connection] = OpenConnection(meters)
                meters.active.increment(by: 1)
            case .idle: contents.open[event.connection]?.change(isActive: false)
            case .active: contents.open[event.connection]?.change(isActive: true)
            case .closed(let lifetime):
                guard let connection = contents.open.removeValue(forKey: event.connection) else { return }
                connection.meter.decrement(by: 1)
                connection.meters.lifetime.recordNanoseconds(lifetime.nanoseconds)
            }
        }
    }
}

extension ConnectionMetrics.Contents {
    fileprivate mutating func meters(
        of peer: ConnectionMetrics.Peer, _ factory: any MetricsFactory
    ) -> ConnectionMetrics.Meters {
        if let known = meters[peer] { return known }
        let isTooMuch = meters.count >= ConnectionMetrics.peerLimit && peer.origin != nil
        guard !isTooMuch else { return meters(of: .init(origin: nil, address: nil), factory) }
        let made = ConnectionMetrics.Meters(peer, factory)
        meters[peer] = made
        return made
    }
}

/// An open connection, changed in place twice for each request.
private final class OpenConnection: @unchecked Sendable {
    // Unchecked: read and changed only under the lock of the metrics that hold it.
    let meters: ConnectionMetrics.Meters
    private var isActive = true

    init(_ meters: ConnectionMetrics.Meters) { self.meters = meters }

    /// The meter that counts the connection now.
    var meter: any MeterHandler { isActive ? meters.active : meters.idle }

    func change(isActive: Bool) {
        guard isActive != self.isActive else { return }
        meter.decrement(by: 1)
        self.isActive = isActive
        meter.increment(by: 1)
    }
}
#endif
