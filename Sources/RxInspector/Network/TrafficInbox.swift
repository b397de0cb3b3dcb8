#if Inspector
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxWebSocket
import Synchronization

/// Hands the traffic of clients over from their threads to the recorder, in batches.
///
/// Clients never wait for the recorder. While it is behind, the bytes of bodies and messages beyond a limit are not
/// handed over, only their number; and with too many events or heads, no more requests are shown.
final class TrafficInbox: Sendable {
    enum Item: Sendable {
        case event(TrafficEvent)
        /// This number of bytes of the exchange's body or of its messages was left out.
        case omission(TrafficEvent.ExchangeID, count: Int, time: Duration)
    }

    private struct Contents {
        var items: [Item] = []
        var byteCount = 0
        /// The indices of the omissions in ``items``. The rest of these exchanges in the batch is left out, too, because
        /// it would not fit.
        var omissions: [TrafficEvent.ExchangeID: Int] = [:]
        var reader: CheckedContinuation<Bool, Never>?
        var isFinished = false

        mutating func takeAll() -> [Item] {
            byteCount = 0
            defer { (items, omissions) = ([], [:]) }
            return items
        }

        mutating func add(_ event: TrafficEvent, isFull: Bool) {
            let size = event.byteCount
            guard event.isOptional else {
                byteCount += size
                return items.append(.event(event))
            }
            let id = event.exchangeID
            if let index = omissions[id], case .omission(_, let count, _) = items[index] {
                items[index] = .omission(id, count: count + size, time: event.time)
            } else if isFull {
                omissions[id] = items.count
                items.append(.omission(id, count: size, time: event.time))
            } else {
                byteCount += size
                items.append(.event(event))
            }
        }
    }

    /// The maximum number of bytes of bodies that wait.
    private let byteLimit: Int
    /// The number of items from which on chunks, messages and requests that begin are not handed over at all.
    private let itemLimit: Int
    private let sampling: RequestSampling
    private let contents = Mutex(Contents())

    /// - Parameter sampling: chooses the requests whose events come.
    init(_ sampling: RequestSampling, byteLimit: Int = 16 << 20, itemLimit: Int = 100_000) {
        self.sampling = sampling
        (self.byteLimit, self.itemLimit) = (byteLimit, itemLimit)
    }

    /// Adds an event. Safe from any thread.
    func append(_ event: TrafficEvent) {
        let reader = contents.withLock { contents -> CheckedContinuation<Bool, Never>? in
            guard !contents.isFinished else { return nil }
            let isFull = contents.byteCount + event.byteCount > byteLimit || contents.items.count >= itemLimit
            contents.add(event, isFull: isFull)
            if isOverfull(contents) { sampling.isSuspended = true }
            return contents.reader.take()
        }
        reader?.resume(returning: true)
    }

    /// Takes the events since the last batch; there may be none.
    func takeAll() -> [Item] {
        contents.withLock { contents in
            if isOverfull(contents) { sampling.isSuspended = false }
            return contents.takeAll()
        }
    }

    /// Whether no more requests are shown. Bodies and messages alone end at the limit, and heads may go beyond it.
    private func isOverfull(_ contents: Contents) -> Bool {
        contents.items.count >= itemLimit || contents.byteCount > 2 * byteLimit
    }

    /// Ends the batches.
    func finish() {
        let reader = contents.withLock { contents in
            contents.isFinished = true
            contents.items = []
            return contents.reader.take()
        }
        reader?.resume(returning: false)
    }

    /// Waits until there are events. Returns false at the end. Only one task may wait.
    func isFilled() async -> Bool {
        await withCheckedContinuation { (reader: CheckedContinuation<Bool, Never>) in
            let isFilled = contents.withLock { contents -> Bool? in
                if contents.isFinished { return false }
                if !contents.items.isEmpty { return true }
                contents.reader = reader
                return nil
            }
            if let isFilled { reader.resume(returning: isFilled) }
        }
    }
}

extension TrafficEvent {
    /// The bytes of a body, of a message or of a head that the event carries.
    fileprivate var byteCount: Int {
        switch kind {
        case .transfer(.chunk(let bytes)): bytes.count
        case .transfer(.head(let head)), .transfer(.redirected(_, by: let head)): head.fieldLines.count
        case .webSocket(let message, _): message.count
        default: 0
        }
    }

    /// Whether the event may be left out, if its size is noted.
    fileprivate var isOptional: Bool {
        switch kind {
        case .transfer(.chunk), .webSocket: true
        default: false
        }
    }
}

extension TrafficEvent {
    /// The `Network.Initiator`: the type of the endpoint, or the method and the path template of an inline endpoint; and
    /// the source line of the nearest call of `inspected`, if there is one.
    var initiator: JSON {
        guard let endpoint = origin?.endpoint, let kind = origin?.kind else { return ["type": "other"] }
        let name =
            endpoint is InlineEndpoint
            ? "\(endpoint.method.rawValue) \(endpoint.path.conventionalTemplate(below: ""))"
            : String(describing: type(of: endpoint))
        // As the calls of `inspected` write it: `Module/File.swift:12`.
        let location = cause?.location.split(separator: ":") ?? []
        let line = location.count == 2 ? Int(location[1]) : nil
        let file = line == nil ? nil : location[0].split(separator: "/").last
        let url = file.map { "\(name) \($0)" } ?? name
        // The panel counts lines from 0.
        let number = JSON.integer((line ?? 1) - 1)
        let frame: JSON = [
            "functionName": .string("\(kind)"), "scriptId": "0", "url": .string(url), "lineNumber": number,
            "columnNumber": 0,
        ]
        // The panel links a script, which it would have to know; of a parser it shows the address.
        let initiator: JSON = ["type": "parser", "url": .string(url), "stack": ["callFrames": [frame]]]
        return initiator.adding(("lineNumber", line == nil ? nil : number))
    }
}
#endif
