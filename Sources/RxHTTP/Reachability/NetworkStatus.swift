/// What the machine is connected by.
public enum NetworkStatus: Sendable, Hashable {
    /// Nobody has looked, or nobody can tell. Counts as reachable.
    case unknown
    /// By nothing: no request would get anywhere.
    case unreachable
    /// By a cable, or by a virtual interface that stands for one.
    case wired
    /// By Wi-Fi.
    case wifi
    /// By a mobile network.
    case cellular

    /// Whether a request is worth a try.
    public var isReachable: Bool { self != .unreachable }
}
