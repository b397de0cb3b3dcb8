package import RxHTTP

/// The values of a path's placeholders, such as `["id": 7]` for `/users/{id}`, and `["key": "2026/tea.jpg"]` for
/// `/photos/{key...}`.
public typealias PathValues = [String: any CustomStringConvertible & Sendable]

/// A path with placeholders: RFC 6570's simple expansion, where each value is a path segment or part of one. The value
/// of a placeholder such as `{key...}` is any number of segments.
package struct PathTemplate {
    private let text: String

    package init(_ text: String) { self.text = text }

    /// Replaces every placeholder by its value, escaped so that it adds no `?` or `#`.
    ///
    /// The segments of a value for `{key...}` are escaped one by one. Empty ones stay, since object stores distinguish
    /// `a/b`, `a//b` and `a/b/`.
    ///
    /// - Throws: `invalidParameters` for a placeholder without a value, a value without a placeholder, and an
    ///   empty value; `invalidURL` for a value of one segment with a `/` or `\`, and for a value of several segments
    ///   with a segment `.` or `..`. Both apply to escaped characters as well, escaped once or repeatedly: servers
    ///   such as nginx decode a path before they split it into segments, and servers behind them may decode
    ///   it again.
    package func expanded(with values: PathValues) throws(NetworkError) -> String {
        guard !values.isEmpty || !text.allBytes({ $0 != UInt8(ascii: "{") }) else { return text }
        var path = ""
        var used: Set<String> = []
        var rest = text[...]
        while let opening = rest.firstIndex(of: "{") {
            guard let closing = rest[opening...].firstIndex(of: "}") else {
                throw NetworkError(.invalidParameters, "the path \(text.withoutSecrets) has a { without a }")
            }
            let inner = rest[rest.index(after: opening)..<closing]
            let isOpen = inner.hasSuffix("...")
            let name = String(isOpen ? inner.dropLast(3) : inner)
            guard let value = values[name].map({ "\($0)" }) else {
                throw NetworkError(
                    .invalidParameters, "no value is given for {\(name)} of the path \(text.withoutSecrets)")
            }
            guard !value.isEmpty else {
                throw NetworkError(.invalidParameters, "the path value for {\(name)} is empty")
            }
            let plain = value.fullyUnescaped
            guard isOpen || !plain.contains(where: \.isSeparator) else {
                throw NetworkError(
                    .invalidURL,
                    "the path value for {\(name)} contains / or \\, plain or percent-encoded; {\(name)...} takes "
                        + "several segments")
            }
            guard !isOpen || !plain[...].hasDotSegments else {
                throw NetworkError(.invalidURL, "the path value for {\(name)...} contains a segment . or ..")
            }
            used.insert(name)
            path += rest[..<opening] + (isOpen ? PercentEncoding.path(value) : value.percentEncoded)
            rest = rest[rest.index(after: closing)...]
        }
        path += rest
        if let unused = values.keys.filter({ !used.contains($0) }).min() {
            throw NetworkError(
                .invalidParameters,
                "the path \(text.withoutSecrets) has no placeholder for the value {\(unused)}")
        }
        return path
    }
}

extension String {
    /// Whether the path, up to a query or fragment, has a segment `.` or `..`, which servers resolve to
    /// another path (RFC 3986 §5.2.4, WHATWG URL §4.1): plain, escaped, between escaped separators, or with
    /// parameters after a semicolon (RFC 3986 §3.3).
    package var hasDotSegments: Bool {
        if allBytes({ $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "%") }) { return false }
        let path = utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let plain = path.contains(UInt8(ascii: "%")) ? String(Substring(path)).fullyUnescaped : Array(path)
        return plain[...].hasDotSegments
    }
}

extension ArraySlice<UInt8> {
    /// Whether the unescaped path has a segment `.` or `..`.
    fileprivate var hasDotSegments: Bool {
        split(whereSeparator: \.isSeparator).contains { segment in
            let name = segment.prefix { $0 != UInt8(ascii: ";") }
            return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
        }
    }
}

extension UInt8 {
    /// Whether the byte ends a path segment; browsers and some servers include `\`.
    fileprivate var isSeparator: Bool { self == UInt8(ascii: "/") || self == UInt8(ascii: "\\") }
}
