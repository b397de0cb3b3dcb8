public import RxLite

/// Knows whether the machine has a network. `NetlinkReachability` asks Linux; `ScriptedReachability` is for tests.
///
/// It says nothing about a server: only that without any network no request needs to be tried.
public protocol Reachability: Sendable {
    /// The status at this moment. From any thread.
    var status: NetworkStatus { get }
    /// The status, then each other one that it changes to. Never ends.
    var statuses: Observable<NetworkStatus, Never> { get }
    /// Begins to watch. Starting twice is fine.
    func start()
    /// Watches no more; the status is `unknown` from then on.
    func stop()
}
