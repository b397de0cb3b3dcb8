package import FoundationEssentials

/// The text of a URL that holds nothing to be escaped: Foundation reads it, and leaves it as it stands. Reading one
/// takes longer than all else that is done to put a request together, and few ask a request for more than the text.
package struct URLText: Sendable, Hashable {
    /// The URL as it is sent.
    package let text: String
    /// Whether there is a question mark, of which the first begins the query (RFC 3986 §3.4).
    private let hasQuery: Bool

    private init(unchecked text: String, hasQuery: Bool) {
        self.text = text
        self.hasQuery = hasQuery
    }

    /// The text itself; `nil` if it is no absolute URL, has a fragment, or is not as it would be sent.
    package init?(_ text: String) {
        guard let url = URL(string: text), url.host() != nil, url.fragment == nil, url.absoluteString == text
        else { return nil }
        self.init(unchecked: text, hasQuery: text.utf8.contains(UInt8(ascii: "?")))
    }

    /// The same with a path after it, and a query if there is one; `nil` if something in that has to be escaped, is a
    /// `#`, or if it does not begin with a slash: after a host it would be read as more of that, or as a port.
    package func appending(_ suffix: String) -> URLText? {
        guard suffix.utf8.first == UInt8(ascii: "/"), suffix.isEscaped else { return nil }
        return URLText(
            unchecked: text + suffix, hasQuery: hasQuery || suffix.utf8.contains(UInt8(ascii: "?")))
    }

    /// The same with these pairs at the end of its query.
    package func appendingQuery(_ query: String) -> URLText? {
        guard query.isEscaped else { return nil }
        var longer = ""
        longer.reserveCapacity(text.utf8.count + 1 + query.utf8.count)
        longer += text
        if !hasQuery {
            longer += "?"
        } else if !isQueryEmpty, text.utf8.last != UInt8(ascii: "&") {
            longer += "&"
        }
        longer += query
        return URLText(unchecked: longer, hasQuery: true)
    }

    private var isQueryEmpty: Bool {
        text.utf8.firstIndex(of: UInt8(ascii: "?")).map { text.utf8.index(after: $0) == text.utf8.endIndex }
            ?? true
    }

    package var url: URL {
        // Guard: what was read once, and characters that need no escaping after it. A test reads them all.
        URL(string: text)!
    }
}

extension String {
    /// Whether all of it may stand in a path or a query as it is (RFC 3986 §3.3, §3.4).
    fileprivate var isEscaped: Bool {
        var digits = 0
        for byte in utf8 {
            if digits > 0 {
                guard byte.isHexDigit else { return false }
                digits -= 1
            } else if byte == UInt8(ascii: "%") {
                digits = 2
            } else if !byte.isAllowedInPath {
                return false
            }
        }
        return digits == 0
    }
}

extension UInt8 {
    /// pchar (RFC 3986 §3.3) without `%`, and `/` and `?`.
    fileprivate var isAllowedInPath: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "?")...UInt8(ascii: "Z"),
            UInt8(ascii: "&")...UInt8(ascii: ";"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "="),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
