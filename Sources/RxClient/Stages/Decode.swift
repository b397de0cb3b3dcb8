import FoundationEssentials
public import RxHTTP
public import RxLite

extension Observable where Element == Response, Failure == NetworkError {
    /// The content as a value: JSON decoded with the client's decoder, at the envelope's payload where one
    /// was unwrapped.
    ///
    /// A document that does not fit fails with `decoding`, which names the place and keeps the body. Bodies
    /// above 256 KiB are decoded off the stream's scheduler, so that other streams there go on meanwhile.
    public func decode<T: Decodable & Sendable>(
        _ type: T.Type = T.self
    ) -> Observable<T, NetworkError> {
        process { response throws(NetworkError) in try response.decode(type) }
    }

    /// Each response through `transform`; off the stream's scheduler where the body is large.
    func process<T: Sendable>(
        _ transform: @escaping @Sendable (Response) throws(NetworkError) -> T
    ) -> Observable<T, NetworkError> {
        let home = scheduler
        return flatMap(.concat) { response throws(NetworkError) in
            guard response.body.count > Decoding.inPlaceLimit else { return .just(try transform(response)) }
            let decoded = Observable.just(response).observe(on: ActorScheduler.shared).map(transform)
            return home.map { decoded.observe(on: $0) } ?? decoded
        }
    }
}

enum Decoding {
    /// The largest body, in bytes, that is decoded on the stream's own scheduler.
    static let inPlaceLimit = 256 << 10
}

extension Response {
    /// The content as a value, decoded from JSON.
    ///
    /// - Throws: ``NetworkError`` with the code `decoding`.
    public func decode<T: Decodable>(_ type: T.Type = T.self) throws(NetworkError) -> T {
        if type == Empty.self, let empty = Empty() as? T { return empty }
        do {
            guard !body.isEmpty else { throw EmptyBody() }
            return try unsafe body.withUnsafeBytes { bytes in
                // The decoder reads the bytes during the call only, while `body` keeps them alive.
                guard let start = bytes.baseAddress else { throw EmptyBody() }
                let data = unsafe Data(
                    bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
                    deallocator: .none)
                guard !payloadPath.isEmpty else { return try decoder.decode(type, from: data) }
                return try decoder.decode(Nested<T>.self, from: data, configuration: payloadPath[...]).value
            }
        } catch {
            throw decodingError(error)
        }
    }

    private func decodingError(_ underlying: any Error) -> NetworkError {
        var error = NetworkError(.decoding, "the body cannot be decoded", request: request)
        error.head = head
        error.body = body
        guard let decodingError = underlying as? DecodingError else {
            error.message = underlying is EmptyBody ? "the body is empty" : "\(underlying)"
            error.codingPath = ""
            return error
        }
        let place = decodingError.place
        error.codingPath = place.path
        error.message = "at \(place.path.isEmpty ? "the top" : place.path): \(place.description)"
        return error
    }
}

private struct EmptyBody: Error {}

/// The value some keys down in a document.
private struct Nested<T: Decodable>: DecodableWithConfiguration {
    let value: T

    init(from decoder: any Decoder, configuration path: ArraySlice<String>) throws {
        guard let name = path.first else {
            value = try T(from: decoder)
            return
        }
        let container = try decoder.container(keyedBy: AnyCodingKey.self)
        // A key strategy of the decoder renames the document's keys, so the key is looked for by both names.
        let key = [AnyCodingKey(name), AnyCodingKey(name.camelCased)].first(where: container.contains)
        if let key, path.count > 1 {
            value = try container.decode(Nested<T>.self, forKey: key, configuration: path.dropFirst()).value
        } else if let key {
            value = try container.decode(T.self, forKey: key)
        } else if let absent = Self.absent {
            value = absent
        } else {
            throw DecodingError.keyNotFound(
                AnyCodingKey(name),
                .init(codingPath: decoder.codingPath, debugDescription: "the envelope has no \(name)"))
        }
    }

    /// What a missing payload is: `nil` where the output is optional.
    private static var absent: T? {
        (T.self as? any ExpressibleByNilLiteral.Type).flatMap { $0.init(nilLiteral: ()) as? T }
    }
}

extension String {
    /// `snake_case` as `JSONDecoder.KeyDecodingStrategy.convertFromSnakeCase` turns it.
    fileprivate var camelCased: String {
        let words = split(separator: "_")
        guard let first = words.first else { return self }
        return words.dropFirst().reduce(String(first)) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }
}
