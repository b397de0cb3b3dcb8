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
/// Like the real one it shows its status while it is started, and `unknown` otherwise. Thread-safe.
public final class ScriptedReachability: Reachability {
    private struct Script {
        var status: NetworkStatus
        var isStarted = true
    }

    private let script: Mutex<Script>
    private let shown: MutableProperty<NetworkStatus>

    /// Creates an instance that is started.
    public init(_ status: NetworkStatus = .unknown) {
        script = Mutex(Script(status: status))
        shown = MutableProperty(status)
    }

    /// The current status.
    public var status: NetworkStatus { shown.value }

    /// The current status, then each new one.
    public var statuses: Observable<NetworkStatus, Never> { shown.observable.distinctUntilChanged() }

    /// Sets the status to show from now on, or once it is started.
    public func set(_ status: NetworkStatus) { change { $0.status = status } }

    /// Shows the status that was set.
    public func start() { change { $0.isStarted = true } }

    /// Shows `unknown`.
    public func stop() { change { $0.isStarted = false } }

    private func change(_ change: (inout Script) -> Void) {
        script.withLock { change(&$0) }
        shown.update { shown in shown = script.withLock { $0.isStarted ? $0.status : .unknown } }
    }
}
