import FlyingSocks

/// A body of server-sent events, one after another at equal intervals.
struct PacedEvents: AsyncBufferedSequence {
    typealias Element = UInt8

    let interval: Duration
    /// The text of the event with this number, from 0, with its blank line; `nil` after the last one.
    let event: @Sendable (_ number: Int) -> String?
    /// The number of events after which the connection breaks, if any.
    var breaksAfter: Int?

    func makeAsyncIterator() -> Iterator { Iterator(events: self) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        let events: PacedEvents
        private var number = 0

        init(events: PacedEvents) { self.events = events }

        mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

        mutating func nextBuffer(suggested _: Int) async throws -> [UInt8]? {
            guard let text = events.event(number) else { return nil }
            try await Task.sleep(for: events.interval)
            if number == events.breaksAfter { throw SocketError.disconnected }
            number += 1
            return Array(text.utf8)
        }
    }
}
