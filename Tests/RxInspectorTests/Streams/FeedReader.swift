#if Inspector
import FoundationEssentials
@testable import RxInspector
import RxNetworking
import Synchronization

extension Inspector {
    /// Starts an inspector that shows the text of every value, also if the test has to wait for a processor.
    static func startForTests(_ clients: Client...) async throws -> Inspector {
        var limits = InspectorLimits()
        limits.textTime = .seconds(60)
        let inspector = try await Inspector(Settings(), limits: limits)
        for client in clients { inspector.inspect(client) }
        return inspector
    }
}

/// Reads the feed of the page of streams, as the page does.
final class FeedReader: Sendable {
    private let messages = Mutex<[JSON]>([])
    private let subscription = Mutex<Subscription?>(nil)
    private let changes = Signal<Void>()

    init(_ inspector: Inspector) {
        let client = Client(baseURL: inspector.pageURL)
        let subscription = client.webSocket("streams").subscribe(
            onNext: { [weak self] event in
                guard case .text(let text) = event, let message = JSON(parsing: text) else { return }
                self?.messages.withLock { $0.append(message) }
                self?.changes.send()
            })
        self.subscription.withLock { $0 = subscription }
    }

    deinit { stop() }

    func stop() { subscription.withLock { $0.take() }?.cancel() }

    /// All messages so far.
    var all: [JSON] { messages.withLock { $0 } }

    /// The events of all messages, with the tracks' names.
    var events: [(name: String, kind: String, text: String)] {
        var names: [Int: String] = [:]
        var events: [(name: String, kind: String, text: String)] = []
        for message in all {
            for track in message["tracks"]?.elements ?? [] {
                names[track["id"]?.integer ?? 0] = track["name"]?.string ?? ""
            }
            for event in message["events"]?.elements ?? [] {
                let track = event["track"]
                if let id = track?["id"]?.integer { names[id] = track?["name"]?.string ?? "" }
                let id = track?["id"]?.integer ?? track?.integer ?? 0
                events.append((names[id] ?? "?", event["k"]?.string ?? "?", event["text"]?.string ?? ""))
            }
        }
        return events
    }

    /// The last form of each request.
    var requests: [String: JSON] {
        var requests: [String: JSON] = [:]
        for message in all {
            for request in message["requests"]?.elements ?? [] {
                requests[request["id"]?.string ?? ""] = request
            }
        }
        return requests
    }

    /// Waits until the messages are as `condition` wants them.
    func wait(until condition: @escaping @Sendable (FeedReader) -> Bool) async {
        if condition(self) { return }
        for await _ in changes.observable where condition(self) { return }
    }
}
#endif
