/// Reads the challenges of a `WWW-Authenticate` field, and the parameters of an `Authentication-Info` field
/// (RFC 9110 §11.2, §11.6), in one pass. Malformed parts are skipped.
struct ChallengeReader {
    struct Challenge: Equatable {
        /// In lower case.
        var scheme: String
        /// By lowercase name; the first of several with the same name counts.
        var parameters: [String: String] = [:]
    }

    private let bytes: [UInt8]
    private var index = 0

    init(_ field: String) { bytes = Array(field.utf8) }

    /// All challenges, in order.
    static func challenges(in field: String) -> [Challenge] {
        var reader = ChallengeReader(field)
        return reader.readAll().filter { !$0.scheme.isEmpty }
    }

    /// The parameters of a field that has no scheme.
    static func parameters(in field: String) -> [String: String] {
        var reader = ChallengeReader(field)
        return reader.readAll().first { $0.scheme.isEmpty }?.parameters ?? [:]
    }

    private mutating func readAll() -> [Challenge] {
        var found = [Challenge(scheme: "")]
        while index < bytes.count {
            let name = token()
            guard !name.isEmpty else {
                if current == UInt8(ascii: "\"") {
                    _ = QuotedString.read(from: bytes, at: &index)
                } else {
                    index += 1
                }
                continue
            }
            skipBlanks()
            guard current == UInt8(ascii: "=") else {
                found.append(Challenge(scheme: name.lowercased()))
                continue
            }
            index += 1
            skipBlanks()
            let value = current == UInt8(ascii: "\"") ? QuotedString.read(from: bytes, at: &index) : token()
            let key = name.lowercased()
            if found[found.count - 1].parameters[key] == nil {
                found[found.count - 1].parameters[key] = value
            }
        }
        return found
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte = current, byte == 0x20 || byte == 0x09 { index += 1 }
    }

    private mutating func token() -> String {
        let start = index
        while let byte = current, byte.isTokenCharacter { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }
}

extension UInt8 {
    /// `tchar` (RFC 9110 §5.6.2), or `/`, which occurs in `token68` only.
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~/".utf8.contains(self)
        }
    }
}
