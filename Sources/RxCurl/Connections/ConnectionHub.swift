internal import RxHTTP
internal import RxLite
import Synchronization

/// Distributes the changes of all connections of a transport. Without subscribers, a connection costs one read of
/// ``isObserved``. Safe from any thread.
final class ConnectionHub: Sendable {
    private let signal = Signal<ConnectionEvent>()
    private let listeners = Atomic<Int>(0)
    private let latestID = Atomic<Int>(0)

    /// Whether there is a subscriber.
    var isObserved: Bool { listeners.load(ordering: .relaxed) > 0 }

    /// The changes from the time of subscription on.
    var events: Observable<ConnectionEvent, Never> {
        Observable { observer in
            self.listeners.add(1, ordering: .relaxed)
            observer.scope.onClose { self.listeners.subtract(1, ordering: .relaxed) }
            self.signal.observable.subscribe(observer)
        }
    }

    /// A new number for a connection.
    func nextID() -> Int { latestID.add(1, ordering: .relaxed).newValue }

    func send(_ event: ConnectionEvent) { signal.send(event) }
}
