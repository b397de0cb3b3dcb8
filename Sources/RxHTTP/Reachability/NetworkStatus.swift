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
