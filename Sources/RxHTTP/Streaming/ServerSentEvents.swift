public import RxLite

extension Observable where Element == TransferEvent, Failure == NetworkError {
    /// The events of a `text/event-stream` body, each as soon as its blank line has arrived; an incomplete
    /// event at the end is dropped. Works with any method. A client's `events` also reconnects.
    ///
    /// ```swift
    /// client.stream(.post("/chat", .json(["prompt": "tea?"]))).serverSentEvents()
    ///     .subscribe(onNext: { event in print(event.data) })
    /// ```
    ///
    /// - Parameter limit: the most bytes of one event. A larger one fails with `tooLarge`. Default 1 MiB.
    public func serverSentEvents(limit: Int = 1 << 20) -> Observable<ServerSentEvent, NetworkError> {
        parsed { EventStreamParser(limit: limit) }
            .compactMap { found in
                if case .event(let event) = found { event } else { nil }
            }
    }
}

/// One event of a `text/event-stream` (https://html.spec.whatwg.org/multipage/server-sent-events.html).
public struct ServerSentEvent: Sendable, Equatable {
    /// The type of the event (`event:`). Default `message`.
    public var type: String
    /// The data lines, joined by LF.
    public var data: String
    /// The `id:` of this event, otherwise of the last event before it that had one.
    public var lastEventID: String

    /// Creates an event.
    public init(type: String = "message", data: String, lastEventID: String = "") {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
    }
}

/// Parses an event stream byte by byte, regardless of chunk boundaries, according to the HTML standard,
/// §9.2.5 and §9.2.6
/// (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
package struct EventStreamParser: BodyParser {
    /// A parsed item.
    package enum Output: Sendable, Equatable {
        /// A complete event.
        case event(ServerSentEvent)
        /// A blank line after an id: the id with which a new connection continues from now on.
        case lastEventID(String)
        /// The time that the server asks to wait before a new connection.
        case retry(Duration)
        /// A comment, if comments are requested.
        case comment(String)
    }

    private let limit: Int
    private let findsComments: Bool
    private var line: [UInt8] = []
    private var isFirstLine = true
    /// Whether the last chunk ended with a CR: an LF that comes next belongs to the same line end.
    private var skipsLineFeed = false
    private var data: [UInt8] = []
    private var type = ""
    private var id: String
    /// The id in the last item that was reported, so that a blank line after it reports only another one.
    private var announcedID: String

    /// - Parameters:
    ///   - lastEventID: the id of events before the first one with an id.
    ///   - limit: the most bytes of one event.
    ///   - findsComments: whether to report comments. Default false.
    package init(lastEventID: String = "", limit: Int, findsComments: Bool = false) {
        self.findsComments = findsComments
        id = lastEventID
        announcedID = lastEventID
        self.limit = limit
    }

    package mutating func read(_ chunk: [UInt8], into found: inout [Output]) throws(NetworkError) {
        var rest = chunk[...]
        if skipsLineFeed, !rest.isEmpty {
            skipsLineFeed = false
            if rest.first == UInt8(ascii: "\n") { rest.removeFirst() }
        }
        while let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            line += rest[..<end]
            let isCarriageReturn = rest[end] == UInt8(ascii: "\r")
            rest = rest[(end + 1)...]
            if isCarriageReturn {
                // The line is complete. The next byte tells whether an LF belongs to its end.
                if rest.first == UInt8(ascii: "\n") {
                    rest.removeFirst()
                } else {
                    skipsLineFeed = rest.isEmpty
                }
            }
            guard line.count <= limit - data.count else { throw overlong }
            takeLine(&found)
        }
        line += rest
        guard line.count <= limit - data.count else { throw overlong }
    }

    /// Drops an event without its blank line, which is incomplete.
    package mutating func finish(into _: inout [Output]) throws(NetworkError) {}

    private var overlong: NetworkError {
        NetworkError(.tooLarge, "a server-sent event is larger than \(limit) bytes")
    }

    private mutating func takeLine(_ found: inout [Output]) {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else { return dispatch(&found) }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let name = line[..<(colon ?? line.endIndex)]
        var value = line[(colon.map { $0 + 1 } ?? line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        // A comment has no name.
        if colon == line.startIndex {
            if findsComments { found.append(.comment(String(decoding: value, as: UTF8.self))) }
        } else if name.elementsEqual("data".utf8) {
            data += value
            data.append(UInt8(ascii: "\n"))
        } else if name.elementsEqual("event".utf8) {
            type = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual("id".utf8) {
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        } else if name.elementsEqual("retry".utf8), let milliseconds = Self.number(value) {
            found.append(.retry(.milliseconds(milliseconds)))
        }
    }

    private mutating func dispatch(_ found: inout [Output]) {
        defer {
            data.removeAll(keepingCapacity: true)
            type = ""
        }
        guard !data.isEmpty else {
            if id != announcedID { found.append(.lastEventID(id)) }
            announcedID = id
            return
        }
        announcedID = id
        data.removeLast()
        found.append(
            .event(
                ServerSentEvent(
                    type: type.isEmpty ? "message" : type, data: String(decoding: data, as: UTF8.self),
                    lastEventID: id)))
    }

    /// Decimal digits; a number of milliseconds above one day counts as a day.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return min(Int64(String(decoding: digits, as: UTF8.self)) ?? .max, 86_400_000)
    }
}
