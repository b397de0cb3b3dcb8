import RxHTTP
import RxLite

/// The bytes that a WebSocket sends, as the stream that the transport takes them from.
final class WebSocketOutput: @unchecked Sendable {
    // Unchecked, and without exclusivity checks: runs only inside the lane of the exchange, which is serial.

    private let lane: Lane
    @safe @exclusivity(unchecked) private var observer: Observer<[UInt8], NetworkError>?
    /// Bytes written before the transport takes them.
    @safe @exclusivity(unchecked) private var early: [UInt8] = []

    init(feeding lane: Lane) { self.lane = lane }

    /// The stream.
    ///
    /// - Parameter onReady: called when the transport takes bytes, or takes them again after a pause.
    func stream(onReady: @escaping @Sendable () -> Void) -> Observable<[UInt8], NetworkError> {
        Observable { observer in
            observer.scope.onResume { onReady() }
            self.lane.enter {
                self.observer = observer
                self.write([])
                onReady()
            }
        }
    }

    /// Whether the transport is full, or takes nothing yet.
    var isPaused: Bool { observer?.scope.isPaused ?? true }

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
