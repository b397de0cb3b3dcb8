import RxHTTP

/// Writes parameters as a body in a custom format, for servers that read neither JSON nor forms.
///
/// ```swift
/// let packed = ParameterSerializer(contentType: "application/msgpack") { value in
///     try MessagePackEncoder().encode(value)
/// }
/// client.post("/goods", .standard(goods).sent(as: .custom(packed)))
/// ```
public struct ParameterSerializer: Sendable {
    let contentType: String
    private let write: @Sendable (any Encodable & Sendable) throws -> [UInt8]

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - contentType: the MIME type of the content.
    ///   - write: receives the model or, if parameters have been added or removed, a tree with the same
    ///     content. A thrown error fails the request with `invalidParameters`, unless it is a
    ///     ``NetworkError``; nothing is sent then.
    public init(
        contentType: String, _ write: @escaping @Sendable (any Encodable & Sendable) throws -> [UInt8]
    ) {
        self.contentType = contentType
        self.write = write
    }

    func body(of value: any Encodable & Sendable) throws(NetworkError) -> Body {
        do {
            return .bytes(try write(value))
        } catch let error as NetworkError {
            throw error
        } catch EncodingError.invalidValue(_, let context) {
            throw .unencodable(context)
        } catch {
            // The error may contain the value, which may be secret.
            throw NetworkError(
                .invalidParameters, "the parameters cannot be encoded as \(contentType): \(type(of: error))")
        }
    }
}
