import RxClient
import RxHTTP
import RxLite
import RxWebSocket
import Synchronization
import TestServers

/// Subscribes to a WebSocket and keeps its events, as texts.
final class SocketRecording: Sendable {
    struct Log {
        var events: [String] = []
        /// One, if all is well.
        var ends: [Completion<NetworkError>] = []

        var error: NetworkError? { if case .failed(let error) = ends.first { error } else { nil } }
        /// The code of the error and of the close frame, or `finished`; `nil` while the stream runs.
        var end: String? {
            ends.first.map { _ in
                error.map { $0.code.rawValue + ($0.closeCode.map { " \($0)" } ?? "") } ?? "finished"
            }
        }
    }

    private let board = Board(Log())
    private let subscription = Mutex<Subscription?>(nil)

    /// - Parameter pausesAt: the event at which the subscriber pauses; empty for each.
    init(
        _ stream: Observable<WebSocketEvent, NetworkError>, on loop: some Scheduler, pausesAt: String? = nil
    ) {
        // On the loop, so that an event finds the subscription.
        loop.schedule { [self] in
            let made = stream.subscribe(
                onNext: { [self] event in
                    let text = Self.text(of: event)
                    if text == pausesAt || pausesAt == "" { pause() }
                    board.update { $0.events.append(text) }
                },
                onEnd: { [self] completion in board.update { $0.ends.append(completion) } })
            subscription.withLock { $0 = made }
        }
    }

    var log: Log { board.contents }

    func until<Result: Sendable>(_ look: @escaping @Sendable (Log) -> Result?) async throws -> Result {
        try await board.until(look)
    }

    /// Waits for this event.
    func event(_ text: String) async throws { try await until { $0.events.contains(text) ? () : nil } }

    /// Waits for the end.
    func ended() async throws -> Log { try await until { $0.ends.isEmpty ? nil : $0 } }

    func cancel() { subscription.withLock { $0 }?.cancel() }
    func pause() { subscription.withLock { $0 }?.pause() }
    func resume() { subscription.withLock { $0 }?.resume() }

    private static func text(of event: WebSocketEvent) -> String {
        switch event {
        case .opened: "opened"
        case .text(let text): text
        case .binary(let bytes): "\(bytes.count) bytes"
        case .ping(let payload): "ping \(payload.count)"
        case .pong(let payload): "pong \(payload.count)"
        case .closing(let code, let reason): "closing \(code.rawValue) \(reason)"
        case .reconnecting: "reconnecting"
        }
    }
}
