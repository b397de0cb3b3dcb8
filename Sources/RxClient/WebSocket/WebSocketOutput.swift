import RxHTTP
import RxLite

/// The bytes that a WebSocket sends, as the stream that the transport takes them from.
final class WebSocketOutput: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the lane of the exchange, which is serial.

    private let lane: Lane
    private let scheduler: any Scheduler
    @safe @exclusivity(unchecked) private var observer: Observer<[UInt8], NetworkError>?
    /// Bytes written before the transport takes them.
    @safe @exclusivity(unchecked) private var early: [UInt8] = []

    init(feeding lane: Lane, on scheduler: any Scheduler) {
        self.lane = lane
        self.scheduler = scheduler
    }

    /// The stream.
    ///
    /// - Parameter onChange: called when the transport takes bytes, takes them again after a pause, or takes no more.
    func stream(onChange: @escaping @Sendable () -> Void) -> Observable<[UInt8], NetworkError> {
        Observable { observer in
            // Outside the transport's lane: inside it, writes could only be queued, and would not fill it.
            let notify: @Sendable () -> Void = { self.scheduler.schedule { self.lane.enter { onChange() } } }
            observer.scope.onResume(notify)
            observer.scope.onClose(notify)
            self.lane.enter {
                self.observer = observer
                self.write([])
            }
            notify()
        }
    }

    /// Whether the transport takes nothing for now.
    var isPaused: Bool { !isLost && (observer?.scope.isPaused ?? true) }

    /// Whether the transport takes no more, because the connection is broken.
    var isLost: Bool { observer.map { !$0.scope.isOpen } ?? false }

    func write(_ bytes: [UInt8]) {
        guard let observer else { return early += bytes }
        var bytes = bytes
        if !early.isEmpty {
            bytes = early + bytes
            early = []
        }
        guard !bytes.isEmpty else { return }
        let scope = observer.scope
        if scope.lane.tryEnter() {
            if scope.isOpen { observer.next(bytes) }
            scope.lane.leave()
        } else {
            scope.lane.enqueue { [bytes] in if scope.isOpen { observer.next(bytes) } }
        }
    }

    func close() { observer = nil }
}
