/// An alternative service: another host, port or protocol that serves the resources of an origin (RFC 7838).
struct AlternativeService: Hashable {
    /// The ALPN name of the protocol, such as `h3` or `http/1.1`.
    var protocolID: String
    /// In lower case, IPv6 addresses without brackets; empty for the host of the origin.
    var host: String
    var port: Int
    /// How long it may be used, in seconds (`ma`).
    var maxAge = defaultAge
    /// Whether it remains valid after a change of the network (`persist=1`).
    var persists = false

    /// Whether both are equal except for their age.
    func isSame(as other: AlternativeService) -> Bool {
        protocolID == other.protocolID && host == other.host && port == other.port
            && persists == other.persists
    }

    /// 24 hours (RFC 7838 §3.1).
    static let defaultAge = 24 * 3600
    /// A year; longer ages are cut to this.
    static let longestAge = 365 * 24 * 3600
    /// The maximum number of alternatives that are read for an origin.
    static let limit = 16
}

/// The value of an `Alt-Svc` field.
enum AlternativeServiceField: Equatable {
    /// All earlier alternatives are invalid.
    case clear
    /// Replaces the earlier alternatives, in the server's order of preference. May be empty.
    case services([AlternativeService])

    /// Parses a field value (RFC 7838 §3); several fields are joined by commas.
    ///
    /// A malformed alternative ends the list; the ones before it are valid. A well-formed but unusable
    /// alternative, such as one with a `ma` that is not a number, is skipped.
    init(_ value: some Sequence<UInt8>) {
        var reader = AlternativeServiceReader(value)
        self = reader.field()
    }
}

/// Parses the value of an `Alt-Svc` field in one pass.
struct AlternativeServiceReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ value: some Sequence<UInt8>) { bytes = Array(value) }

    /// Parses the alternatives up to the first malformed one or up to the limit, or the keyword `clear`,
    /// which is case-sensitive.
    mutating func field() -> AlternativeServiceField {
        var services: [AlternativeService] = []
        while services.count < AlternativeService.limit {
            while skipBlanks(), take(",") {}
            if takeClear() { return .clear }
            guard index < bytes.count, let found = alternative() else { break }
            if let service = found { services.append(service) }
            guard isAtEnd else { break }
        }
        return .services(services)
    }

    /// Whether an element of the list ends here.
    private var isAtEnd: Bool { index == bytes.count || bytes[index] == UInt8(ascii: ",") }

    private mutating func takeClear() -> Bool {
        let start = index
        if token() == "clear", skipBlanks(), isAtEnd { return true }
        index = start
        return false
    }

    /// Parses `protocol-id "=" alt-authority *( OWS ";" OWS parameter )`. Returns `nil` for malformed input,
    /// and an inner `nil` for an unusable alternative.
    private mutating func alternative() -> AlternativeService?? {
        guard let name = token(), take("="), let authority = quotedString() else { return nil }
        var age: Int? = AlternativeService.defaultAge
        var persists = false
        while skipBlanks(), take(";") {
            _ = skipBlanks()
            guard let name = token(), take("="), let value = token() ?? quotedString() else { return nil }
            switch name {
            case "ma": age = Self.number(value, atMost: AlternativeService.longestAge)
            // Any other value is ignored (RFC 7838 §3.1).
            case "persist": persists = value.utf8.elementsEqual("1".utf8)
            default: break
            }
        }
        guard let age, let (host, port) = Self.split(authority) else { return .some(nil) }
        return AlternativeService(
            protocolID: name, host: host, port: port, maxAge: age, persists: persists)
    }

    /// Parses `[ uri-host ] ":" port`.
    private static func split(_ authority: String) -> (host: String, port: Int)? {
        guard authority.utf8.count <= 300, let colon = authority.lastIndex(of: ":") else { return nil }
        let digits = authority[authority.index(after: colon)...]
        guard let port = number(String(digits), atMost: 65_536), 1...65_535 ~= port else { return nil }
        var host = authority[..<colon].lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        let isHost = host.utf8.allSatisfy {
            isToken($0) || $0 == UInt8(ascii: ":")
        }
        return isHost ? (host, port) : nil
    }

    /// Parses a number that consists of digits only; larger numbers are cut to `limit`.
    static func number(_ text: String, atMost limit: Int) -> Int? {
        guard !text.isEmpty else { return nil }
        var number = 0
        for byte in text.utf8 {
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            number = min(limit, number * 10 + Int(digit))
        }
        return number
    }

    private mutating func token() -> String? {
        let start = index
        while index < bytes.count, Self.isToken(bytes[index]) { index += 1 }
        return index > start ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
    }

    private mutating func quotedString() -> String? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while index < bytes.count {
            defer { index += 1 }
            switch bytes[index] {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                index += 1
                guard index < bytes.count else { return nil }
                text.append(bytes[index])
            default: text.append(bytes[index])
            }
        }
        return nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    /// Always true, so that it can be used in a condition.
    private mutating func skipBlanks() -> Bool {
        while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
        return true
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
