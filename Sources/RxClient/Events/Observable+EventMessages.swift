public import FoundationEssentials
public import RxHTTP
public import RxLite
import Synchronization

extension Observable where Element == EventSourceUpdate {
    /// Only the events.
    public func messages() -> Observable<ServerSentEvent, Failure> {
        compactMap { update in
            if case .message(let event) = update { event } else { nil }
        }
    }
}

extension Observable where Element == EventSourceUpdate, Failure == NetworkError {
    /// The events, decoded from JSON.
    ///
    /// ```swift
    /// client.events(answer).messages(of: Delta.self, named: "delta")
    /// ```
    ///
    /// Data that cannot be decoded fails with ``NetworkError/Code/decoding``: the error holds the coding path,
    /// and the data as its body.
    ///
    /// - Parameters:
    ///   - type: the type of the events.
    ///   - name: the type of the events to decode (`event:`); others are skipped. Default `nil`: all events.
    ///   - decoder: the JSON decoder. Default `nil`: the decoder of the client.
    public func messages<T: Decodable & Sendable>(
        of type: T.Type = T.self, named name: String? = nil, decoder: JSONDecoder? = nil
    ) -> Observable<T, NetworkError> {
        messages(by: name.map { [$0: .json] } ?? [:], others: name == nil ? .json : nil, decoder: decoder)
    }

    /// The events, decoded by their types (`event:`); an event without one has the type `message`.
    ///
    /// ```swift
    /// client.events(answer).messages(by: ["delta": .json(Piece.delta), "usage": .json(Piece.usage)])
    /// ```
    ///
    /// - Parameters:
    ///   - table: the decoders of the types.
    ///   - others: the decoder of all other events. Default `nil`: they are skipped.
    ///   - decoder: the JSON decoder. Default `nil`: the decoder of the client.
    public func messages<T: Sendable>(
        by table: [String: EventDecoder<T>], others: EventDecoder<T>? = nil, decoder: JSONDecoder? = nil
    ) -> Observable<T, NetworkError> {
        let decoder = Mutex<JSONDecoder?>(decoder)
        return compactMap { update throws(NetworkError) -> T? in
            switch update {
            case .open(let head):
                decoder.withLock { $0 = $0 ?? head.decoder }
                return nil
            case .message(let event):
                guard let value = table[event.type] ?? others else { return nil }
                return try value.decode(event, with: decoder.withLock { $0 } ?? JSONDecoder())
            case .comment, .reconnecting: return nil
            }
        }
    }
}
