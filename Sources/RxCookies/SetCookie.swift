import FoundationEssentials
import RxHTTP

/// The parsed value of one `Set-Cookie` field (RFC 6265 §5.2, with the limits of RFC 6265bis §5.6). ``CookieTable`` decides
/// whether its domain is allowed.
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

    /// The maximum size of name and value together, in bytes; ``CookieRefusal/tooLarge`` names it.
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
            set(name.lowercasedToken(), to: value)
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
        // By bytes, as servers compare: a hyphen and a combining mark after it are one `Character`.
        let bytes = (name.isEmpty ? value : name).utf8.prefix(9)
        let start = String(decoding: bytes, as: UTF8.self).lowercased().utf8
        let isHost = start.starts(with: "__host-".utf8)
        guard isHost || start.starts(with: "__secure-".utf8) else { return true }
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

extension Date {
    /// Parses the date in an `Expires` attribute, as leniently as RFC 6265 §5.1.1 requires: the parts in any
    /// order, with any text between and around them.
    init?(cookieDate text: String) {
        var clock: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: \.isCookieDateDelimiter) {
            if clock == nil, let found = token.clock {
                clock = found
            } else if day == nil, let found = token.leadingNumber(digits: 1...2) {
                day = found
            } else if month == nil, let found = token.month {
                month = found
            } else if year == nil, let found = token.leadingNumber(digits: 2...4) {
                year = found
            }
        }
        guard let clock, let day, let month, let year else { return nil }
        let fullYear =
            switch year {
            case 70...99: year + 1900
            case 0...69: year + 2000
            default: year
            }
        guard fullYear >= 1601, clock.second <= 59 else { return nil }
        self.init(
            year: fullYear, month: month, day: day, hour: clock.hour, minute: clock.minute,
            second: clock.second)
    }
}

extension UInt8 {
    /// `delimiter` of RFC 6265 §5.1.1.
    fileprivate var isCookieDateDelimiter: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    fileprivate var digit: Int? { (0x30...0x39).contains(self) ? Int(self) - 0x30 : nil }
}

extension Substring.UTF8View {
    /// The number at the start of the token, if it has an allowed number of digits and no further digit
    /// follows.
    fileprivate func leadingNumber(digits allowed: ClosedRange<Int>) -> Int? {
        let digits = prefix(allowed.upperBound + 1).prefix { $0.digit != nil }
        guard allowed.contains(digits.count) else { return nil }
        return digits.reduce(0) { $0 * 10 + ($1.digit ?? 0) }
    }

    /// `hh:mm:ss`, one or two digits each; any text may follow that does not begin with a digit.
    fileprivate var clock: (hour: Int, minute: Int, second: Int)? {
        let fields = split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[..<2].allSatisfy({ $0.allSatisfy { $0.digit != nil } }),
            let hour = fields[0].leadingNumber(digits: 1...2),
            let minute = fields[1].leadingNumber(digits: 1...2),
            let second = fields[2].leadingNumber(digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    /// The month from 1 to 12, by its first three letters.
    fileprivate var month: Int? {
        let letters = prefix(3).map { $0 | 0x20 }
        return Self.months.firstIndex { $0.elementsEqual(letters) }.map { $0 + 1 }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { Array($0.utf8) }
}
