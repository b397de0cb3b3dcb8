package import FoundationEssentials

/// The text of a URL that needs no escaping, so that Foundation leaves it unchanged. Parsing a URL takes
/// longer than all other work of preparing a request, and few callers need more than the text.
package struct URLText: Sendable, Hashable {
    /// The URL as sent.
    package let text: String
    /// Whether there is a query; the first question mark begins it (RFC 3986 §3.4).
    private let hasQuery: Bool

    private init(unchecked text: String, hasQuery: Bool) {
        self.text = text
        self.hasQuery = hasQuery
    }

    /// Creates a text; `nil` if it is not an absolute URL, has a fragment, or differs from the URL as sent.
    package init?(_ text: String) {
        guard let url = URL(string: text), url.host() != nil, url.fragment == nil, url.absoluteString == text
        else { return nil }
        self.init(unchecked: text, hasQuery: text.utf8.contains(UInt8(ascii: "?")))
    }

    /// The text followed by a path, and by a query if the suffix has one. `nil` if the suffix needs escaping,
    /// contains `#`, or does not begin with a slash: after a host it would be read as part of the host, or as
    /// a port.
    package func appending(_ suffix: String) -> URLText? {
        guard suffix.utf8.first == UInt8(ascii: "/"), suffix.isEscaped else { return nil }
        return URLText(
            unchecked: .joined(text, "", suffix),
            hasQuery: hasQuery || !suffix.allBytes { $0 != UInt8(ascii: "?") })
    }

    /// The text with these pairs at the end of its query; `nil` if they need escaping. `appendQuery` of RxParameters
    /// joins in the same way where this gives `nil`.
    package func appendingQuery(_ query: String) -> URLText? {
        guard query.isEscaped else { return nil }
        let separator =
            !hasQuery ? "?" : isQueryEmpty || text.utf8.last == UInt8(ascii: "&") ? "" : "&"
        return URLText(unchecked: .joined(text, separator, query), hasQuery: true)
    }

    private var isQueryEmpty: Bool {
        text.utf8.firstIndex(of: UInt8(ascii: "?")).map { text.utf8.index(after: $0) == text.utf8.endIndex }
            ?? true
    }

    package var url: URL {
        // Guard: a text that was parsed once, followed by characters that need no escaping. A test parses
        // them all.
        URL(string: text)!
    }
}

extension String {
    /// The three texts in a row, in one allocation; appending one after the other takes several times as long.
    fileprivate static func joined(_ first: String, _ second: String, _ third: String) -> String {
        let count = first.utf8.count + second.utf8.count + third.utf8.count
        // Guard: the capacity is the sum of the lengths.
        return unsafe String(unsafeUninitializedCapacity: count) { target in
            var end = 0
            func append(_ part: String) {
                let space = unsafe UnsafeMutableBufferPointer(rebasing: target[end..<end + part.utf8.count])
                let copied: Int? = unsafe part.utf8.withContiguousStorageIfAvailable { bytes in
                    unsafe space.update(fromContentsOf: bytes)
                }
                if copied == nil { _ = unsafe space.update(from: part.utf8) }
                end += part.utf8.count
            }
            append(first)
            append(second)
            append(third)
            return end
        }
    }

    /// Whether the text needs no escaping in a path or a query (RFC 3986 §3.3, §3.4).
    fileprivate var isEscaped: Bool {
        if allBytes(\.isAllowedInPath) { return true }
        var digits = 0
        let isAllowed = allBytes { byte in
            if digits > 0 {
                digits -= 1
                return byte.hexDigitValue != nil
            }
            if byte == UInt8(ascii: "%") { digits = 2 }
            return byte == UInt8(ascii: "%") || byte.isAllowedInPath
        }
        return isAllowed && digits == 0
    }
}

extension UInt8 {
    /// Whether it is a `pchar` (RFC 3986 §3.3) other than `%`, or `/` or `?`.
    fileprivate var isAllowedInPath: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "?")...UInt8(ascii: "Z"),
            UInt8(ascii: "&")...UInt8(ascii: ";"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "="),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
