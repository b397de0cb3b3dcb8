package import FoundationEssentials
import RxJSON

extension JSONDecoder {
    /// Decodes a piece of a stream, such as a line or an event.
    ///
    /// - Parameter name: the piece in the message of the error, such as `line 3`.
    /// - Throws: `decoding` with the coding path, and the piece as body.
    package func decode<T: Decodable>(
        _ type: T.Type, named name: @autoclosure () -> String, _ bytes: [UInt8]
    ) throws(NetworkError) -> T {
        do {
            return try decode(type, quicklyFrom: bytes)
        } catch {
            var failure = NetworkError(.decoding, "\(name()): \(error)")
            failure.body = bytes
            if let error = error as? DecodingError {
                failure.codingPath = error.path.text(or: "")
                failure.message =
                    "\(name()), at \(error.path.text(or: "the top level")): \(error.reason(in: bytes))"
            }
            throw failure
        }
    }
}

extension DecodingError {
    /// The path where decoding failed, empty for the top of the document.
    package var path: [any CodingKey] {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath
        case .keyNotFound(let key, let context): context.codingPath + [key]
        @unknown default: []
        }
    }

    /// Why `bytes` do not match the type, in one clause: what was expected at ``path``, and what was found there.
    ///
    /// - Parameter outer: the path to the decoded value.
    package func reason(in bytes: [UInt8], below outer: [any CodingKey] = []) -> String {
        func found(at path: [any CodingKey]) -> String? {
            (try? JSONPart(wholeOf: bytes))?.tape.words(for: outer + path, in: bytes)
        }
        switch self {
        case .keyNotFound(_, let context):
            return "the field is missing" + (found(at: context.codingPath).map { " in \($0)" } ?? "")
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            guard let found = found(at: context.codingPath) else { return context.debugDescription }
            return "expected \(Self.words(for: type)), found \(found)"
        case .dataCorrupted(let context): return context.debugDescription
        @unknown default: return "\(self)"
        }
    }

    private static func words(for type: Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type, is Decimal.Type: "a number (\(type))"
        // The types that containers name.
        case is [Any].Type: "an array"
        case is [String: Any].Type, is [AnyHashable: Any].Type: "an object"
        default: "\(type)"
        }
    }
}

extension [any CodingKey] {
    /// The path as text, such as `data.goods[3].price`; `empty` if the path is empty.
    package func text(or empty: String) -> String {
        guard !isEmpty else { return empty }
        return reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
    }
}
