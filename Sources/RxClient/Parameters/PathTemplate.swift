import RxHTTP

/// The values of a path's placeholders, such as `["id": 7]` for `/users/{id}`.
public typealias PathValues = [String: any CustomStringConvertible & Sendable]

/// A path with placeholders: RFC 6570's simple expansion, where each value is one path segment or part of one.
struct PathTemplate {
    private let text: String

    init(_ text: String) { self.text = text }

    /// The path with every placeholder replaced by its value, escaped so that it adds no `?` or `#`.
    ///
    /// - Throws: `invalidParameters` for a placeholder without a value, a value without a placeholder, and an empty
    ///   value; `invalidURL` for a value with a `/` or `\`, also as an escape, or as the escape of one: servers decode a
    ///   path before they look for its segments, as nginx does, and what stands behind them may do so again.
    func expanded(with values: PathValues) throws(NetworkError) -> String {
        guard !values.isEmpty || text.utf8.contains(UInt8(ascii: "{")) else { return text }
        var path = ""
        var used: Set<String> = []
        var rest = text[...]
        while let opening = rest.firstIndex(of: "{") {
            guard let closing = rest[opening...].firstIndex(of: "}") else {
                throw NetworkError(.invalidParameters, "the path \(text.withoutSecrets) has a { without }")
            }
            let name = String(rest[rest.index(after: opening)..<closing])
            guard let value = values[name].map({ "\($0)" }) else {
                throw NetworkError(
                    .invalidParameters, "the path \(text.withoutSecrets) has no value for {\(name)}")
            }
            guard !value.isEmpty else {
                throw NetworkError(.invalidParameters, "the path's value for {\(name)} is empty")
            }
            guard !value.fullyUnescaped.contains(where: \.isSeparator) else {
                throw NetworkError(
                    .invalidURL, "the path's value for {\(name)} holds a / or \\, perhaps escaped")
            }
            used.insert(name)
            path += rest[..<opening] + value.percentEncoded
            rest = rest[rest.index(after: closing)...]
        }
        path += rest
        if let unused = values.keys.filter({ !used.contains($0) }).min() {
            throw NetworkError(
                .invalidParameters, "the path \(text.withoutSecrets) has no place for {\(unused)}")
        }
        return path
    }
}

extension String {
    /// Whether the path, up to a query or fragment, has a segment `.` or `..`, which servers take for a way to
    /// somewhere else (RFC 3986 §5.2.4, WHATWG URL §4.1): in plain, escaped, between escaped separators, or with
    /// parameters behind a semicolon (RFC 3986 §3.3).
    var hasDotSegments: Bool {
        guard utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else {
            return false
        }
        let path = utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let plain = path.contains(UInt8(ascii: "%")) ? String(Substring(path)).fullyUnescaped : Array(path)
        return plain.split(whereSeparator: \.isSeparator).contains { segment in
            let name = segment.prefix { $0 != UInt8(ascii: ";") }
            return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
        }
    }
}

extension UInt8 {
    /// Whether it ends a path segment, for browsers and some servers also if it is a `\`.
    fileprivate var isSeparator: Bool { self == UInt8(ascii: "/") || self == UInt8(ascii: "\\") }
}
