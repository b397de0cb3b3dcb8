public import RxLite

/// Reports whether the machine has a network. `NetlinkReachability` asks Linux; `ScriptedReachability` is for
/// tests.
///
/// It says nothing about any server, only that requests are pointless without a network.
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
