#if Inspector
import RxClient
import RxHTTP
import RxWebSocket
import Synchronization

/// Hands the traffic of clients over from their threads to the recorder, in batches.
///
/// Clients never wait for the recorder. While it is behind, the bytes of bodies and messages beyond a limit are not
/// handed over, only their number.
final class TrafficInbox: Sendable {
    enum Item: Sendable {
        case event(TrafficEvent)
        /// So many bytes of the exchange's body or of its messages were left out.
        case omission(TrafficEvent.ExchangeID, count: Int, time: Duration)
    }

    private struct Contents {
        var items: [Item] = []
        var byteCount = 0
        var reader: CheckedContinuation<[Item]?, Never>?
        var isFinished = false

        mutating func takeAll() -> [Item] {
            byteCount = 0
            defer { items = [] }
            return items
        }
    }

    /// The maximum number of bytes of bodies that wait.
    private static let byteLimit = 16 << 20
    /// The number of items from which on chunks and messages are not handed over at all.
    private static let itemLimit = 100_000
    private let contents = Mutex(Contents())

    /// Adds an event. Safe from any thread.
    func append(_ event: TrafficEvent) {
        let size = event.byteCount
        let waiting = contents.withLock { contents -> (CheckedContinuation<[Item]?, Never>, [Item])? in
            guard !contents.isFinished else { return nil }
            if let size {
                guard contents.items.count < Self.itemLimit else { return nil }
                if contents.byteCount + size <= Self.byteLimit {
                    contents.byteCount += size
                    contents.items.append(.event(event))
                } else {
                    contents.items.append(.omission(event.exchangeID, count: size, time: event.time))
                }
            } else {
                contents.items.append(.event(event))
            }
            guard let reader = contents.reader.take() else { return nil }
            return (reader, contents.takeAll())
        }
        if let (reader, items) = waiting { reader.resume(returning: items) }
    }

    /// Ends the batches.
    func finish() {
        let reader = contents.withLock { contents in
            contents.isFinished = true
            contents.items = []
            return contents.reader.take()
        }
        reader?.resume(returning: nil)
    }

    /// The events since the last batch, as soon as there are any; `nil` at the end. Only one task may wait.
    func next() async -> [Item]? {
        await withCheckedContinuation { (reader: CheckedContinuation<[Item]?, Never>) in
            let ready = contents.withLock { contents -> [Item]?? in
                if contents.isFinished { return .some(nil) }
                if !contents.items.isEmpty { return contents.takeAll() }
                contents.reader = reader
                return nil
            }
            if let ready { reader.resume(returning: ready) }
        }
    }
}

extension TrafficEvent {
    /// The bytes of a body or of a message that the event carries; `nil` for other events, which are never left out.
    fileprivate var byteCount: Int? {
        switch kind {
        case .transfer(.chunk(let bytes)): bytes.count
        case .webSocket(_, let message): message.count
        default: nil
        }
    }
}
#endif
