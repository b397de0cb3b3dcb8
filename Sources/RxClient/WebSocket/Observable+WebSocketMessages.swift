public import FoundationEssentials
public import RxHTTP
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
        @Sendable func decode(_ bytes: [UInt8]) throws(NetworkError) -> T {
            let decoder = clientDecoder.withLock { $0 } ?? JSONDecoder()
            return try decoder.decode(T.self, named: "the message", bytes)
        }
        return compactMap { event throws(NetworkError) -> T? in
            switch event {
            case .opened(let opening):
                if let found = opening.head.decoder { clientDecoder.withLock { $0 = $0 ?? found } }
                return nil
            case .text(let text): return try decode(Array(text.utf8))
            case .binary(let bytes): return try decode(bytes)
            case .ping, .pong, .closing, .reconnecting: return nil
            }
        }
    }
}
