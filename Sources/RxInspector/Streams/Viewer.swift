#if Inspector
import Synchronization

/// One open page of streams.
final class Viewer: SocketSession {
    private let outbox: MessageOutbox
    private let feed: StreamFeed
    private let missed = Atomic<Int>(0)
    /// Whether batches were skipped since the last message.
    var hasMissed: Bool { missed.load(ordering: .relaxed) > 0 }

    init(_ outbox: MessageOutbox, _ feed: StreamFeed) {
        self.outbox = outbox
        self.feed = feed
    }

    /// Sends a message, or skips it if the page has not read the ones before.
    func send(_ message: JSON) {
        guard outbox.waitingCount <= StreamFeed.backlog else {
            missed.add(1, ordering: .relaxed)
            return
        }
        let missed = missed.exchange(0, ordering: .relaxed)
        outbox.send(message.adding(("missed", .integer(missed))))
    }

    /// A page has nothing to say.
    func receive(_ text: String) async {}

    func close() async { feed.remove(self) }
}
#endif
