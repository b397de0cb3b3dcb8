import RxHTTP

/// What the placeholders of a path stand for, such as `["id": 7]` for `/users/{id}`.
public typealias PathValues = [String: any CustomStringConvertible & Sendable]

/// A path with placeholders: RFC 6570's simple expansion, where each value is one path segment or part of one.
struct PathTemplate {
    private let text: String

    init(_ text: String) { self.text = text }

    /// The path with every placeholder replaced by its value, escaped so that it adds no `/`, `?` or `#`.
    ///
    /// - Throws: `invalidParameters` for a placeholder without a value, a value without a placeholder, an empty
    ///   value, and a segment that comes out as `.` or `..`, which servers take for a way to somewhere else even
    ///   when it is escaped (RFC 3986 §5.2.4, WHATWG URL §4.1).
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
    /// Whether the path, up to a query or fragment, has a segment `.` or `..`, in plain or escaped.
    var hasDotSegments: Bool {
        guard utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else {
            return false
        }
        let path = prefix { $0 != "?" && $0 != "#" }
        return path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).contains { segment in
            let plain = segment.lowercased().split(separator: "%2e", omittingEmptySubsequences: false)
                .joined(separator: ".")
            return plain == "." || plain == ".."
        }
    }
}
