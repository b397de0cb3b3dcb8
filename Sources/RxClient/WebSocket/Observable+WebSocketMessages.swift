public import FoundationEssentials
public import RxHTTP
import RxJSON
public import RxLite
import RxWebSocket
import Synchronization

extension Observable where Element == WebSocketEvent, Failure == NetworkError {
    /// The messages, decoded from JSON; both texts and bytes are accepted.
    ///
    /// ```swift
    /// for try await price in client.webSocket("/prices").messages(of: Price.self) { show(price) }
    /// ```
    ///
    /// A message that cannot be decoded fails with ``NetworkError/Code/decoding``: the error holds the coding
    /// path, and the message as its body. To skip such messages instead, decode with `compactMap`.
    ///
    /// - Parameters:
    ///   - type: the type of the messages.
    ///   - decoder: the decoder. Default `nil`: the decoder of the client.
    public func messages<T: Decodable & Sendable>(
        of type: T.Type = T.self, decoder: JSONDecoder? = nil
    ) -> Observable<T, NetworkError> {
        let clientDecoder = Mutex<JSONDecoder?>(decoder)
        return compactMap { event throws(NetworkError) -> T? in
            switch event {
            case .opened(let opening):
                if let found = opening.head.decoder { clientDecoder.withLock { $0 = $0 ?? found } }
                return nil
            case .text(let text): return try T(json: Array(text.utf8), clientDecoder.withLock { $0 })
            case .binary(let bytes): return try T(json: bytes, clientDecoder.withLock { $0 })
            case .ping, .pong, .closing, .reconnecting: return nil
            }
        }
    }
}

extension Decodable {
    fileprivate init(json bytes: [UInt8], _ decoder: JSONDecoder?) throws(NetworkError) {
        do {
            self = try (decoder ?? JSONDecoder()).decode(Self.self, quicklyFrom: bytes)
        } catch {
            var failure = NetworkError(.decoding, "the message: \(error)")
            failure.body = bytes
            if let place = (error as? DecodingError)?.place {
                failure.codingPath = place.path
                failure.message =
                    "the message, at \(place.path.isEmpty ? "the top" : place.path): \(place.description)"
            }
            throw failure
        }
    }
}
