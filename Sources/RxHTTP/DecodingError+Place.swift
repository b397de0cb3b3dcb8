import FoundationEssentials
import RxJSON

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
