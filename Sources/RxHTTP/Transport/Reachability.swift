public import RxLite

/// Reports whether the machine has a network. `NetlinkReachability` asks Linux; `ScriptedReachability` is for
/// tests.
///
/// It does not describe any server; it shows only that requests are pointless without a network.
public protocol Reachability: Sendable {
    /// The current status. Thread-safe.
    var status: NetworkStatus { get }
    /// The current status, then each new one. Never ends.
    var statuses: Observable<NetworkStatus, Never> { get }
    /// Starts watching. Starting twice has no further effect.
    func start()
    /// Stops watching; the status is `unknown` from then on.
    func stop()
}

/// The machine's connection to the network.
public enum NetworkStatus: Sendable, Hashable {
    /// Not checked yet, or unknown. Counts as reachable.
    case unknown
    /// No connection: no request would reach a server.
    case unreachable
    /// Connected by cable or by a virtual interface.
    case wired
    /// Connected by Wi-Fi.
    case wifi
    /// Connected by a mobile network.
    case cellular

    /// Whether a request is worth sending.
    public var isReachable: Bool { self != .unreachable }
}
