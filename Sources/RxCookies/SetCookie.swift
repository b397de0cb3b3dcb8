import FoundationEssentials

/// The parsed value of one `Set-Cookie` field (RFC 6265 §5.2, with the limits of RFC 6265bis §5.6).
struct SetCookie {
    let name: String
    let value: String
    private(set) var domain: String?
    private(set) var path: String?
    private(set) var maxAge: TimeInterval?
    private(set) var expires: Date?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    private(set) var sameSite: Cookie.SameSite?

    /// The maximum size of name and value together, in bytes.
    static let sizeLimit = 4096
    /// The maximum size of an attribute's value, in bytes; larger attributes are ignored.
    static let attributeLimit = 1024

    init(_ line: String) throws(CookieRefusal) {
        guard !line.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }),
            !line.unicodeScalars.contains("\u{FFFD}")
        else { throw .invalidCharacter }
        let parts = line.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        (name, value) = parts[0].pair ?? ("", String(Substring(parts[0].trimmed)))
        guard !name.isEmpty || !value.isEmpty else { throw .empty }
        guard name.utf8.count + value.utf8.count <= Self.sizeLimit else { throw .tooLarge }
        for part in parts.dropFirst() {
            let (name, value) = part.pair ?? (String(Substring(part.trimmed)), "")
            guard value.utf8.count <= Self.attributeLimit else { continue }
            set(name.lowercased(), to: value)
        }
    }

    private mutating func set(_ attribute: String, to value: String) {
        switch attribute {
        case "expires": expires = Date(cookieDate: value) ?? expires
        case "max-age": maxAge = TimeInterval(maxAge: value) ?? maxAge
        case "domain":
            let name = value.hasPrefix(".") ? value.dropFirst() : value[...]
            domain = name.isEmpty ? nil : CookieOrigin.canonical(String(name))
        case "path": path = value.hasPrefix("/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = Cookie.SameSite(rawValue: value.lowercased())
        default: break
        }
    }

    /// The expiry of the cookie, at most `limit` from now: from `Max-Age` if present, else from `Expires`
    /// (§5.3 step 3).
    func expiry(now: Date, limit: TimeInterval) -> Date? {
        let latest = now.addingTimeInterval(limit)
        if let maxAge { return maxAge <= 0 ? .distantPast : min(now.addingTimeInterval(maxAge), latest) }
        return expires.map { min($0, latest) }
    }

    /// Whether the cookie meets the conditions of its name prefix (RFC 6265bis §4.1.3). The comparison
    /// ignores case, to protect servers that do so too; a cookie without a name cannot bypass it either.
    func keepsPrefix(isHostOnly: Bool) -> Bool {
        let start = (name.isEmpty ? value : name).prefix(9).lowercased()
        let isHost = start.hasPrefix("__host-")
        guard isHost || start.hasPrefix("__secure-") else { return true }
        guard !name.isEmpty, isSecure else { return false }
        return !isHost || (isHostOnly && domain == nil && path == "/")
    }
}

extension TimeInterval {
    /// Parses `Max-Age`: a whole number of seconds, with or without a minus sign; `nil` for other texts.
    fileprivate init?(maxAge text: String) {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        guard !digits.isEmpty, text.utf8.count - digits.count <= 1,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        self.init(text)
    }
}

extension Substring.UTF8View {
    /// Without leading and trailing spaces and tabs.
    fileprivate var trimmed: Substring.UTF8View {
        func isKept(_ byte: UInt8) -> Bool { byte != UInt8(ascii: " ") && byte != UInt8(ascii: "\t") }
        guard let first = firstIndex(where: isKept), let last = lastIndex(where: isKept) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }

    /// The text before and after the first `=`; `nil` if there is none.
    fileprivate var pair: (String, String)? {
        guard let equals = firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (
            String(Substring(self[..<equals].trimmed)),
            String(Substring(self[index(after: equals)...].trimmed))
        )
    }
}
