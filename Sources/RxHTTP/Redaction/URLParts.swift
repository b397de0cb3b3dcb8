/// The parts of a URL's text in which additions are looked for.
struct URLParts {
    /// The text before the query.
    let place: Substring
    /// The query items, as written.
    let query: [Substring]
    /// The fragment with its `#`; empty without one.
    let fragment: Substring

    init(_ text: String) {
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        fragment = text[end...]
        let rest = text[..<end]
        let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?"))
        place = rest[..<(mark ?? rest.endIndex)]
        query =
            mark.map {
                rest[rest.utf8.index(after: $0)...].split(separator: "&", omittingEmptySubsequences: false)
            }
            ?? []
    }

    /// The segments of the path, and scheme and authority.
    var segments: Set<String> { Set(place.split(separator: "/").map(String.init)) }

    /// The pairs of the query, unescaped.
    var pairs: [(name: String, value: String?)] { query.filter { !$0.isEmpty }.map(Self.pair) }

    /// One query item, unescaped; the value is `nil` if it has no `=`.
    static func pair(_ item: Substring) -> (name: String, value: String?) {
        guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            return (item.decodedAsForm, nil)
        }
        return (
            item[..<equals].decodedAsForm, item[item.utf8.index(after: equals)...].decodedAsForm
        )
    }
}
