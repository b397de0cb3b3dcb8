/// A media type (RFC 9110 §8.3.1) without its parameters.
package struct MediaType: Equatable {
    /// In lower case, such as `application/json`; empty without a type.
    package let name: String

    /// Reads a `Content-Type` value.
    package init(_ field: String?) {
        let name = (field ?? "").utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        let isPlain = !name.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        self.name =
            isPlain
            ? String(Substring(name)).lowercased()
            : String(Substring(name)).filter { $0 != " " && $0 != "\t" }.lowercased()
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
