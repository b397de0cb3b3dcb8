package import FoundationEssentials

extension URL {
    /// The URL of a reference in a response (RFC 3986 §5.2): resolved against `base`, with dot segments
    /// removed, existing escapes kept, and each character escaped that a URL must not contain, including a
    /// `%` without two hexadecimal digits.
    ///
    /// - Parameters:
    ///   - reference: the text of the reference; surrounding blanks are ignored.
    ///   - base: an absolute URL with an authority.
    /// - Returns: `nil` if the result is not an absolute URL.
    package init?(reference: String, base: URL) {
        let parts = URIReference(reference.trimmingBlanks()).escaped()
        self.init(string: parts.resolved(against: URIReference(base.absoluteString[...])).text)
    }
}

extension Request {
    /// Directs the request to the target of a redirect. A `%` without two hexadecimal digits is sent as the server wrote
    /// it, which a `URL` cannot hold.
    ///
    /// - Parameters:
    ///   - target: the URL of the reference, possibly with another scheme or fragment.
    ///   - reference: the text of the reference.
    mutating func move(to target: URL, reference: String) {
        let parts = URIReference(reference.trimmingBlanks()).escaped(keepsLonePercents: true)
        var sent = URIReference(target.absoluteString[...])
        let resolved = parts.resolved(against: URIReference(urlText[...]))
        (sent.path, sent.query) = (resolved.path, resolved.query)
        setURL(target, sentAs: sent.text)
    }

    /// Changes the text of the URL, in which a `%` may stand alone; nothing happens if it is not a URL.
    mutating func setURL(sentAs text: String) {
        if let url = URL(string: text[...].escaped(allowing: "/?#[]")) { setURL(url, sentAs: text) }
    }
}

/// The five components of a URI reference (RFC 3986 §3), as written.
private struct URIReference {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?
    var fragment: Substring?

    init(_ text: Substring) {
        var rest = text
        fragment = rest.cutting(at: "#")
        query = rest.cutting(at: "?")
        if let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")), rest[..<colon].isScheme {
            scheme = rest[..<colon]
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// RFC 3986 §5.2.2.
    func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil || authority != nil {
            target.scheme = scheme ?? base.scheme
            if authority != nil { target.path = path.withoutDotSegments[...] }
            return target
        }
        (target.scheme, target.authority) = (base.scheme, base.authority)
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.utf8.first == UInt8(ascii: "/") {
            target.path = path.withoutDotSegments[...]
        } else {
            target.path = base.merging(path).withoutDotSegments[...]
        }
        return target
    }

    /// RFC 3986 §5.2.3.
    private func merging(_ relative: Substring) -> Substring {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "/" + relative }
        return path[...slash] + relative
    }

    /// Escapes path, query and fragment; `URL` validates scheme and authority.
    func escaped(keepsLonePercents: Bool = false) -> URIReference {
        let percent = keepsLonePercents ? "%" : ""
        var parts = self
        parts.path = path.escaped(allowing: "/" + percent)[...]
        parts.query = query?.escaped(allowing: "/?" + percent)[...]
        parts.fragment = fragment?.escaped(allowing: "/?" + percent)[...]
        return parts
    }

    /// RFC 3986 §5.3.
    var text: String {
        var text = ""
        if let scheme { text += scheme + ":" }
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }
}

extension Substring {
    /// Removes the text from the first `mark` on, and returns the text after the mark.
    fileprivate mutating func cutting(at mark: Unicode.Scalar) -> Substring? {
        guard let index = utf8.firstIndex(of: UInt8(ascii: mark)) else { return nil }
        defer { self = self[..<index] }
        return self[utf8.index(after: index)...]
    }

    /// RFC 3986 §3.1.
    fileprivate var isScheme: Bool {
        guard let first = utf8.first, first.isLetter else { return false }
        return utf8.allSatisfy { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
    }

    /// The path without `.` and `..` segments (RFC 3986 §5.2.4), made in one pass. The path must be ASCII.
    fileprivate var withoutDotSegments: String {
        guard utf8.first == UInt8(ascii: "/") else { return String(self) }
        var kept: [Substring] = []
        let segments = dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isDots = segment == "." || segment == ".."
            if segment == ".." { _ = kept.popLast() }
            if !isDots { kept.append(segment) } else if index == segments.count - 1 { kept.append("") }
        }
        return "/" + kept.joined(separator: "/")
    }

    /// The text with everything escaped that is neither a `pchar` (RFC 3986 §3.3) nor in `others`.
    fileprivate func escaped(allowing others: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            let isEscape =
                byte == UInt8(ascii: "%") && rest.prefix(2).count == 2
                && rest.prefix(2).allSatisfy(\.isHexDigit)
            if isEscape || byte.isPathCharacter || others.utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), (byte >> 4).hexDigit, (byte & 0xF).hexDigit]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
    fileprivate var isHexDigit: Bool { isDigit || (0x61...0x66).contains(self | 0x20) }

    /// `pchar` of RFC 3986 §3.3, without `%`.
    fileprivate var isPathCharacter: Bool {
        isLetter || isDigit || "-._~!$&'()*+,;=:@".utf8.contains(self)
    }

    /// The digit of a number below 16.
    fileprivate var hexDigit: UInt8 { self < 10 ? 0x30 + self : 0x41 + self - 10 }
}
