import RxNetworking

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A WebSocket, and its events one by one.
struct Conversation {
    let sink: WebSocketSink
    private let events: Values<WebSocketEvent, NetworkError>.AsyncIterator

    init(
        _ client: Client, _ path: String, _ query: Parameters.Values = [:],
        _ change: (inout WebSocketSettings) -> Void = { _ in }
    ) {
        var settings = WebSocketSettings()
        change(&settings)
        let sink = WebSocketSink()
        self.sink = sink
        events = client.webSocket(path, query: query, sending: sink, settings: settings)
            .values(buffering: .suspend(high: 8, low: 2)).makeAsyncIterator()
    }

    /// The next event; `nil` at the end.
    func next() async throws -> WebSocketEvent? { try await events.next() }

    /// Skips to the next opening.
    func opened() async throws -> (subprotocol: String?, isCompressed: Bool)? {
        while let event = try await next() {
            if case .opened(_, let subprotocol, let isCompressed) = event {
                return (subprotocol, isCompressed)
            }
        }
        return nil
    }

    /// Skips to the next message.
    func message() async throws -> WebSocketMessage? {
        while let event = try await next() {
            switch event {
            case .text(let text): return .text(text)
            case .binary(let bytes): return .binary(bytes)
            default: continue
            }
        }
        return nil
    }

    /// Sends a message; says whether the same comes back.
    func echoes(_ message: WebSocketMessage) async throws -> Bool {
        let sending = sink.send(message)
        async let sent: Void = sending.value()
        let received = try await self.message()
        try await sent
        guard case (.binary(let bytes), .binary(let others)?) = (message, received) else {
            return received == message
        }
        // In debug builds `==` takes seconds for 32 MB.
        guard bytes.count == others.count else { return false }
        return unsafe bytes.withUnsafeBytes { bytes in
            unsafe others.withUnsafeBytes { others in
                guard let first = bytes.baseAddress, let second = others.baseAddress else { return true }
                return unsafe memcmp(first, second, bytes.count) == 0
            }
        }
    }

    /// Closes, and skips to the end.
    func close(_ code: WebSocketCloseCode = .normalClosure, _ reason: String = "") async throws {
        try await sink.close(code, reason: reason).value()
        while try await next() != nil {}
    }

    /// Reads to the failure; `nil` if the stream finishes.
    func failure() async -> NetworkError? {
        do throws(NetworkError) {
            while try await events.next() != nil {}
            return nil
        } catch {
            return error
        }
    }
}
