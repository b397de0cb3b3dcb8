/// The machine's connection to the network.
public enum NetworkStatus: Sendable, Hashable {
    /// Not checked yet, or not known. Counts as reachable.
    case unknown
    /// By nothing: no request would get anywhere.
    case unreachable
    /// By a cable, or by a virtual interface.
    case wired
    /// By Wi-Fi.
    case wifi
    /// By a mobile network.
    case cellular

    /// Whether a request is worth a try.
    public var isReachable: Bool { self != .unreachable }
}
