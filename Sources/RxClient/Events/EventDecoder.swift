public import FoundationEssentials
public import RxHTTP

/// Makes a value of a server-sent event.
///
/// ```swift
/// enum Piece { case delta(Delta), usage(Usage) }
///
/// let all = client.events(answer).messages(by: ["delta": .json(Piece.delta), "usage": .json(Piece.usage)])
/// ```
public struct EventDecoder<Output: Sendable>: Sendable {
    private let output: @Sendable (ServerSentEvent, JSONDecoder) throws(NetworkError) -> Output

    /// A value of the event's data, decoded from JSON.
    public static func json<T: Decodable & Sendable>(
        _ output: @escaping @Sendable (T) -> Output
    ) -> EventDecoder {
        EventDecoder { event, decoder throws(NetworkError) in
            output(
                try decoder.decode(
                    T.self, named: "the event \(event.type.debugDescription)", Array(event.data.utf8)))
        }
    }

    /// A value of the whole event.
    public static func event(_ output: @escaping @Sendable (ServerSentEvent) -> Output) -> EventDecoder {
        EventDecoder { event, _ in output(event) }
    }

    /// The value of an event.
    ///
    /// - Parameter decoder: the decoder of the data, if it is JSON. Default: one with default settings.
    /// - Throws: ``NetworkError/Code/decoding`` with the coding path, and the data as body.
    public func decode(
        _ event: ServerSentEvent, with decoder: JSONDecoder = JSONDecoder()
    ) throws(NetworkError) -> Output {
        try output(event, decoder)
    }
}

extension EventDecoder where Output: Decodable {
    /// The event's data, decoded from JSON.
    public static var json: EventDecoder { .json { $0 } }
}
