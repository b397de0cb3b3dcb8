#if Inspector
import RxNetworking

@testable import RxInspector

/// A front end of the tests, over a real WebSocket.
final class FrontEndProbe {
    private let sink = WebSocketSink()
    private var texts: Observable<String, NetworkError>.AsyncIterator
    private var number = 0
    /// The events that no test has asked for.
    private(set) var events: [JSON] = []

    init(_ inspector: Inspector) {
        var options = RequestOptions()
        options.retry = .never
        let url = "http" + inspector.webSocketURL.dropFirst(2)
        texts = Client(baseURL: "").webSocket(url, options: options, sending: sink).texts()
            .makeAsyncIterator()
    }

    /// Sends a text.
    func send(_ text: String) async throws { try await sink.send(text).value() }

    /// Sends a command and returns the reply.
    @discardableResult
    func call(_ method: String, _ params: JSON = [:]) async throws -> JSON {
        number += 1
        let command: JSON = ["id": .integer(number), "method": .string(method), "params": params]
        return try await exchange(String(decoding: command.bytes, as: UTF8.self))
    }

    /// Sends the text of a command and returns the reply.
    func exchange(_ command: String) async throws -> JSON {
        let id = JSON(parsing: command)?["id"]
        // The first message goes out when the WebSocket is open, which reading causes.
        let sending = sink.send(command).subscribe()
        defer { _ = sending }
        while let message = try await next() {
            if message["id"] == id { return message }
            events.append(message)
        }
        throw Ended()
    }

    /// The next message.
    func next() async throws -> JSON? {
        guard let text = try await texts.next() else { return nil }
        return JSON(parsing: text)
    }

    /// The parameters of the next event with the name, of the domain Network if it names none.
    func event(_ name: String) async throws -> JSON {
        let method = JSON.string(name.contains(".") ? name : "Network.\(name)")
        if let index = events.firstIndex(where: { $0["method"] == method }) {
            return events.remove(at: index)["params"] ?? .null
        }
        while let message = try await next() {
            if message["method"] == method { return message["params"] ?? .null }
            events.append(message)
        }
        throw Ended()
    }

    struct Ended: Error {}
}
#endif
