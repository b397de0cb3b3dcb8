public import RxHTTP
public import RxLite
import Synchronization

/// A network status that a test sets.
///
/// ```swift
/// let reachability = ScriptedReachability(.wifi)
/// configuration.reachability = reachability
/// reachability.set(.unreachable)
/// ```
///
/// Like the real one it shows its status while it is started, and `unknown` otherwise. Safe from any thread.
public final class ScriptedReachability: Reachability {
    private struct Script {
        var status: NetworkStatus
        var isStarted = true
    }

    private let script: Mutex<Script>
    private let shown: State<NetworkStatus>

    /// Creates one that is started.
    public init(_ status: NetworkStatus = .unknown) {
        script = Mutex(Script(status: status))
        shown = State(status)
    }

    /// The status at this moment.
    public var status: NetworkStatus { shown.value }

    /// The status, then each other one that it changes to.
    public var statuses: Observable<NetworkStatus, Never> { shown.observable.distinctUntilChanged() }

    /// Sets what is shown from now on, or once it is started.
    public func set(_ status: NetworkStatus) { change { $0.status = status } }

    /// Shows what has been set.
    public func start() { change { $0.isStarted = true } }

    /// Shows `unknown`.
    public func stop() { change { $0.isStarted = false } }

    private func change(_ change: (inout Script) -> Void) {
        script.withLock { change(&$0) }
        shown.update { shown in shown = script.withLock { $0.isStarted ? $0.status : .unknown } }
    }
}
