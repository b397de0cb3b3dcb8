import HTTPTypes

/// The content types that a response may have.
///
/// ```swift
/// configuration.options.contentTypes = .json.or("text/html")   // JSON that the server labels as HTML
/// let picture: ContentTypes = ["image/*"]
/// ```
///
/// A pattern is a type such as `image/png`, all types of a kind such as `image/*`, or all with a suffix such as
/// `*+json`, in any case and without parameters. A response without a content type, or without content, is always
/// accepted (RFC 9110 §8.3).
public struct ContentTypes: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// `nil` accepts every type.
    private let patterns: [String]?

    private init(_ patterns: [String]?) { self.patterns = patterns?.map { $0.lowercased() } }

    /// Any content type.
    public static let any = ContentTypes(nil)

    /// `application/json`, `text/json`, and all with the suffix `+json` (RFC 6839 §3.1).
    public static let json: ContentTypes = ["application/json", "text/json", "*+json"]

    /// Types that match one of the patterns.
    public init(arrayLiteral patterns: String...) { self.init(patterns) }

    /// These types, and those that match one of `patterns`.
    public func or(_ patterns: String...) -> ContentTypes {
        ContentTypes(self.patterns.map { $0 + patterns })
    }

    /// Whether a response with this head is accepted.
    public func accepts(_ head: ResponseHead) -> Bool {
        guard let patterns, let field = head[.contentType] else { return true }
        // The form that many servers send; any other is parsed.
        if patterns.contains(where: { $0.utf8.count == field.utf8.count && $0 == field }) { return true }
        let type = MediaType(field).name
        return type.isEmpty || patterns.contains { Self.matches($0, type) }
    }

    private static func matches(_ pattern: String, _ type: String) -> Bool {
        if pattern == "*/*" { return true }
        if pattern.hasSuffix("/*") { return type.hasPrefix(pattern.dropLast()) }
        if pattern.hasPrefix("*+") { return type.hasSuffix(pattern.dropFirst()) }
        return type == pattern
    }
}

extension ContentTypes: CustomStringConvertible {
    /// The patterns.
    public var description: String { patterns?.joined(separator: ", ") ?? "*/*" }
}

/// A media type (RFC 9110 §8.3.1) without its parameters.
package struct MediaType: Equatable {
    /// In lower case, such as `application/json`; empty without a type. Characters that are not
    /// ASCII become `?`.
    package let name: String

    /// Reads a `Content-Type` value.
    package init(_ field: String?) {
        let name = (field ?? "").utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        let isPlain = !name.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let token = Substring(name).lowercasedToken()
        self.name = isPlain ? token : token.filter { $0 != " " && $0 != "\t" }
    }

    package var isForm: Bool { name == "application/x-www-form-urlencoded" }

    package var isMultipart: Bool { name.hasPrefix("multipart/") }

    /// Includes the structured suffix (RFC 6839 §3.1), `text/json`, and sequences of JSON documents.
    package var isJSON: Bool {
        name.hasSuffix("+json") || name.hasSuffix("/json") || name.hasSuffix("/x-ndjson")
            || name.hasSuffix("/jsonl") || name.hasSuffix("/json-seq")
    }

    /// Whether people can read the content.
    package var isText: Bool {
        name.hasPrefix("text/") || isForm || isJSON || name.hasSuffix("xml") || name.hasSuffix("javascript")
    }
}
