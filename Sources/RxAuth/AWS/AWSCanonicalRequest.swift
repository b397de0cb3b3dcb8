#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP

/// A request in the canonical form that AWS signatures cover ("Create a canonical request" in the guide to Signature
/// Version 4).
struct AWSCanonicalRequest {
    /// How the path of a URL is canonicalized.
    struct PathRule: Sendable, Hashable {
        /// Whether dot segments and empty segments are removed.
        var isNormalized: Bool
        /// Whether the escaped path is escaped once more.
        var isEscapedAgain: Bool

        /// The rule of S3, whose keys may have such segments: the path as it is sent.
        static let s3 = PathRule(isNormalized: false, isEscapedAgain: false)
        /// The rule of all other services.
        static let standard = PathRule(isNormalized: true, isEscapedAgain: true)
    }

    /// The whole text.
    let bytes: [UInt8]
    /// The range in the text of the names of the signed fields.
    private let names: Range<Int>

    /// The names of the signed fields, in lower case, sorted, with `;` between them.
    var signedNames: ArraySlice<UInt8> { bytes[names] }

    /// - Parameters:
    ///   - path: the path as it is sent.
    ///   - query: the query as it is sent, without the question mark.
    ///   - fields: the fields to sign, with their names in lower case.
    ///   - payload: the hash of the payload, or the text that stands for it.
    init(
        method: String, path: some Collection<UInt8>, _ rule: PathRule, query: some Collection<UInt8>,
        _ fields: AWSSignedFields, payload: String
    ) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        bytes += method.utf8
        bytes.append(Self.newline)
        Self.append(path: Array(path), rule, to: &bytes)
        bytes.append(Self.newline)
        if !query.isEmpty { Self.append(query: Array(query), to: &bytes) }
        bytes.append(Self.newline)
        for (name, value) in fields.values {
            bytes += name.utf8
            bytes.append(UInt8(ascii: ":"))
            bytes += value.utf8
            bytes.append(Self.newline)
        }
        bytes.append(Self.newline)
        let start = bytes.count
        for (name, _) in fields.values {
            if bytes.count > start { bytes.append(UInt8(ascii: ";")) }
            bytes += name.utf8
        }
        names = start..<bytes.count
        bytes.append(Self.newline)
        bytes += payload.utf8
        self.bytes = bytes
    }

    private static let newline = UInt8(ascii: "\n")
    private static let slash = UInt8(ascii: "/")

    private static func append(path: [UInt8], _ rule: PathRule, to bytes: inout [UInt8]) {
        guard !path.isEmpty else { return bytes.append(slash) }
        let path = rule.isNormalized && !isNormal(path) ? normalized(path) : path
        guard !rule.isEscapedAgain else {
            for byte in path {
                if byte == slash { bytes.append(byte) } else { bytes.append(escaping: byte) }
            }
            return
        }
        bytes.append(reescaping: path[...], keeping: slash)
    }

    /// Whether the path has no segment that ``normalized(_:)`` may remove: an empty one, or one that begins with a dot.
    private static func isNormal(_ path: [UInt8]) -> Bool {
        guard path.first == slash else { return false }
        var isAfterSlash = false
        for byte in path {
            if isAfterSlash, byte == slash || byte == UInt8(ascii: ".") { return false }
            isAfterSlash = byte == slash
        }
        return true
    }

    /// RFC 3986 §5.2.4, and without empty segments.
    private static func normalized(_ path: [UInt8]) -> [UInt8] {
        var segments: [ArraySlice<UInt8>] = []
        for segment in path.split(separator: slash) {
            if segment.elementsEqual("..".utf8) {
                _ = segments.popLast()
            } else if !segment.elementsEqual(".".utf8) {
                segments.append(segment)
            }
        }
        var normalized: [UInt8] = []
        normalized.reserveCapacity(path.count)
        for segment in segments {
            normalized.append(slash)
            normalized += segment
        }
        if normalized.isEmpty || path.last == slash { normalized.append(slash) }
        return normalized
    }

    /// Appends the pairs, unescaped, escaped uniformly, and sorted by name and value.
    static func append(query: [UInt8], to bytes: inout [UInt8]) {
        guard !query.isEmpty else { return }
        var pairs: [(name: [UInt8], value: [UInt8])] = []
        for item in query.split(separator: UInt8(ascii: "&")) {
            let sides = item.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            var pair: (name: [UInt8], value: [UInt8]) = ([], [])
            pair.name.append(reescaping: sides[0])
            if sides.count > 1 { pair.value.append(reescaping: sides[1]) }
            pairs.append(pair)
        }
        pairs.sort { one, other in
            one.name == other.name
                ? one.value.lexicographicallyPrecedes(other.value)
                : one.name.lexicographicallyPrecedes(other.name)
        }
        for (index, pair) in pairs.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            bytes += pair.name
            bytes.append(UInt8(ascii: "="))
            bytes += pair.value
        }
    }
}

/// The header fields that a signature covers, in canonical form.
struct AWSSignedFields {
    /// The fields, sorted by name.
    private(set) var values: [(name: String, value: String)] = []

    /// Fields that the way to the server, or the transport, may change or add, and the signature's own. A field that is
    /// changed after the signature and is not here makes the server refuse the request.
    private static let unsigned: Set<String> = [
        "accept-encoding", "authorization", "connection", "expect", "host", "keep-alive",
        "proxy-authenticate",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade", "user-agent",
        "x-amzn-trace-id",
    ]

    /// The fields of a request that a signature covers, and the host.
    init(_ fields: HTTPFields, host: String) {
        values.reserveCapacity(fields.count + 1)
        values.append(("host", host))
        for field in fields {
            let name = field.name.canonicalName
            if !Self.unsigned.contains(name) { insert(name, field.value.trimmed) }
        }
    }

    /// The names in order, with `;` between them.
    var names: String { values.map(\.name).joined(separator: ";") }

    /// Inserts a field in its order, or joins it with the one of the same name.
    private mutating func insert(_ name: String, _ value: String) {
        var index = values.endIndex
        while index > 0, name < values[index - 1].name { index -= 1 }
        guard index > 0, values[index - 1].name == name else {
            return values.insert((name, value), at: index)
        }
        // HTTPTypes keeps each cookie as a field, but they are sent as one (RFC 6265 §5.4).
        values[index - 1].value += (name == HTTPField.Name.cookie.canonicalName ? "; " : ",") + value
    }
}

extension String {
    /// Without white space at the ends, and with one space in place of each run of it.
    fileprivate var trimmed: String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var isPlain = true
        var wasBlank = true
        for byte in utf8 {
            isPlain = isPlain && !(isBlank(byte) && (wasBlank || byte != 0x20))
            wasBlank = isBlank(byte)
        }
        isPlain = isPlain && (!wasBlank || isEmpty)
        guard !isPlain else { return self }
        return utf8.split(whereSeparator: isBlank).map { String(Substring($0)) }.joined(separator: " ")
    }
}

extension UInt8 {
    /// RFC 3986 §2.3.
    var isUnreservedByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// The value of a hexadecimal digit.
    var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension [UInt8] {
    private static let capitals = Array("0123456789ABCDEF".utf8)

    /// Appends an unreserved byte as it is, and any other as `%XX`.
    mutating func append(escaping byte: UInt8) {
        guard !byte.isUnreservedByte else { return append(byte) }
        append(UInt8(ascii: "%"))
        append(Self.capitals[Int(byte >> 4)])
        append(Self.capitals[Int(byte & 15)])
    }

    /// Appends escaped text in one spelling: the bytes that need it are escaped, in capitals, and no others.
    ///
    /// - Parameter kept: a byte that stays, escaped or not.
    mutating func append(reescaping text: ArraySlice<UInt8>, keeping kept: UInt8? = nil) {
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            index += 1
            guard byte == UInt8(ascii: "%"), index + 1 < text.endIndex,
                let high = text[index].hexadecimalDigit,
                let low = text[index + 1].hexadecimalDigit
            else {
                if byte == kept { append(byte) } else { append(escaping: byte) }
                continue
            }
            index += 2
            append(escaping: high << 4 | low)
        }
    }
}

extension ContiguousBytes {
    /// The bytes as hexadecimal digits, in lower case.
    var hexadecimalText: String {
        // Guard: two digits for each byte, within the capacity.
        return unsafe withUnsafeBytes { bytes in
            unsafe String(unsafeUninitializedCapacity: bytes.count * 2) { digits in
                for index in 0..<bytes.count {
                    unsafe digits[2 * index] = (bytes[index] >> 4).hexadecimalCharacter
                    unsafe digits[2 * index + 1] = (bytes[index] & 15).hexadecimalCharacter
                }
                return bytes.count * 2
            }
        }
    }
}

extension UInt8 {
    /// The digit of a value below 16, in lower case.
    fileprivate var hexadecimalCharacter: UInt8 {
        self + (self < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }
}

extension [UInt8] {
    /// Appends bytes as hexadecimal digits, in lower case.
    mutating func append(hexadecimal bytes: some ContiguousBytes) {
        // Guard: the bytes are read within their count.
        unsafe bytes.withUnsafeBytes { bytes in
            for index in 0..<bytes.count {
                let byte = unsafe bytes[index]
                append((byte >> 4).hexadecimalCharacter)
                append((byte & 15).hexadecimalCharacter)
            }
        }
    }
}
#endif
