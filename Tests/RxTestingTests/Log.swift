import Synchronization

/// Events, in order.
final class Log<Entry: Sendable>: Sendable {
    private let contents = Mutex<[Entry]>([])
    var entries: [Entry] { contents.withLock { $0 } }
    func add(_ entry: Entry) { contents.withLock { $0.append(entry) } }
}
