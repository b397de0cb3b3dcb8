#if Inspector
import Synchronization

/// One open page of streams.
final class Viewer: SocketSession {
    private let outbox: MessageOutbox
    private let feed: StreamFeed
    private let missed = Atomic<Int>(0)

    init(_ outbox: MessageOutbox, _ feed: StreamFeed) {
        self.outbox = outbox
        self.feed = feed
    }

    /// Whether the page has missed messages.
    var isBehind: Bool { missed.load(ordering: .relaxed) > 0 }

    /// Sends a message; or skips it if the page has not read the ones before. From within the feed's lock, so that the
    /// messages are in order.
    ///
    /// - Parameter beginning: makes the message that the page is sent instead after it has skipped some.
    /// - Returns: whether the page begins again.
    @discardableResult
    func send(_ message: JSON, orToBegin beginning: () -> JSON) -> Bool {
        guard outbox.waitingCount <= StreamFeed.backlog else {
            missed.add(1, ordering: .relaxed)
            return false
        }
        let missed = missed.exchange(0, ordering: .relaxed)
        outbox.send((missed > 0 ? beginning() : message).adding(("missed", .integer(missed))))
        return missed > 0
    }

    /// A page has nothing to say.
    func receive(_ text: String) async {}

    func close() async { feed.remove(self) }
}
#endif
