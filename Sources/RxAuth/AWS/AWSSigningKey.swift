#if Auth
import Crypto
import FoundationEssentials
import RxHTTP

/// The version of an AWS signature.
public enum AWSSignatureVersion: Sendable, Hashable {
    /// Signature Version 4: HMAC-SHA256 with a key for one day, region and service.
    case v4
    /// Signature Version 4A: ECDSA on the curve P-256, valid in a set of regions.
    case v4a

    var algorithm: String {
        switch self {
        case .v4: "AWS4-HMAC-SHA256"
        case .v4a: "AWS4-ECDSA-P256-SHA256"
        }
    }

    /// The number of characters of a chunk's signature. Those of ECDSA vary, and are filled up.
    var chunkSignatureLength: Int {
        switch self {
        case .v4: 64
        case .v4a: 144
        }
    }
}

/// The key of all signatures of one day, service and region, or set of regions.
struct AWSSigningKey: Sendable {
    private enum Key: Sendable {
        case hmac(AWSAuthenticationCode)
        case ecdsa(P256.Signing.PrivateKey)
    }

    let version: AWSSignatureVersion
    /// The day, the region and the service, as `20150830/us-east-1/service/aws4_request`.
    let scope: String
    private let key: Key

    /// - Throws: `invalidConfiguration` if no key of version 4A can be derived, which has a probability below 2⁻³².
    init(
        _ version: AWSSignatureVersion, of credential: AWSCredential, day: String, region: String,
        service: String
    ) throws(NetworkError) {
        self.version = version
        switch version {
        case .v4:
            scope = "\(day)/\(region)/\(service)/aws4_request"
            var key = SymmetricKey(data: Array("AWS4\(credential.secretAccessKey)".utf8))
            for part in [day, region, service, "aws4_request"] {
                key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
            }
            self.key = .hmac(AWSAuthenticationCode(key: key))
        case .v4a:
            scope = "\(day)/\(service)/aws4_request"
            key = .ecdsa(try Self.privateKey(of: credential))
        }
    }

    /// The signature of a text, in hexadecimal digits.
    func signature(of text: [UInt8]) throws(NetworkError) -> String {
        switch key {
        case .hmac(let code): return code.digest(of: text).hexadecimalText
        case .ecdsa(let key):
            do {
                return try key.signature(for: text).derRepresentation.hexadecimalText
            } catch {
                throw NetworkError(.invalidConfiguration, "the request cannot be signed by ECDSA: \(error)")
            }
        }
    }

    /// The public half of the key of version 4A.
    var publicKey: P256.Signing.PublicKey? {
        if case .ecdsa(let key) = key { key.publicKey } else { nil }
    }

    /// The text that a signature signs.
    ///
    /// - Parameter suffix: distinguishes the signatures of chunks and trailers.
    func stringToSign(_ date: AWSDate, _ hashes: [String], suffix: String = "") -> [UInt8] {
        var bytes = beginning(date, suffix)
        for line in hashes {
            bytes.append(UInt8(ascii: "\n"))
            bytes += line.utf8
        }
        return bytes
    }

    /// The text that the signature of a request signs.
    func stringToSign(_ date: AWSDate, _ canonical: AWSCanonicalRequest) -> [UInt8] {
        var bytes = beginning(date)
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(hexadecimal: canonical.bytes.sha256)
        return bytes
    }

    private func beginning(_ date: AWSDate, _ suffix: String = "") -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        bytes += version.algorithm.utf8
        bytes += suffix.utf8
        bytes.append(UInt8(ascii: "\n"))
        bytes += date.text.utf8
        bytes.append(UInt8(ascii: "\n"))
        bytes += scope.utf8
        return bytes
    }

    // MARK: - Version 4A

    /// The order of the group of P-256, minus 2 (FIPS 186-5, SP 800-186 §3.2.1.3).
    private static let greatestCandidate: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC,
        0xE6,
        0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x4F,
    ]

    /// Derives the private key from the secret: the first candidate of a key derivation in counter mode (SP 800-108 §4.1)
    /// that is small enough, plus one.
    private static func privateKey(
        of credential: AWSCredential
    ) throws(NetworkError) -> P256.Signing.PrivateKey {
        let secret = SymmetricKey(data: Array("AWS4A\(credential.secretAccessKey)".utf8))
        for counter in UInt8(1)...254 {
            var input: [UInt8] = [0, 0, 0, 1]
            input += "AWS4-ECDSA-P256-SHA256".utf8
            input.append(0)
            input += credential.accessKeyID.utf8
            input.append(counter)
            input += [0, 0, 1, 0]
            var candidate = Array(HMAC<SHA256>.authenticationCode(for: input, using: secret))
            guard !greatestCandidate.lexicographicallyPrecedes(candidate) else { continue }
            for index in candidate.indices.reversed() {
                candidate[index] &+= 1
                if candidate[index] != 0 { break }
            }
            if let key = try? P256.Signing.PrivateKey(rawRepresentation: candidate) { return key }
        }
        throw NetworkError(
            .invalidConfiguration, "no key of Signature Version 4A can be derived from the credential")
    }
}

/// HMAC-SHA256 (RFC 2104) by one key, whose blocks are hashed once. `HMAC` is generic in another module, and its calls are
/// not specialized.
private struct AWSAuthenticationCode: Sendable {
    private var inner = SHA256()
    private var outer = SHA256()

    /// - Parameter key: a key of at most 64 bytes.
    init(key: SymmetricKey) {
        var block = [UInt8](repeating: 0, count: SHA256.blockByteCount)
        // Guard: the bytes are read within their count.
        unsafe key.withUnsafeBytes { bytes in
            for index in 0..<min(bytes.count, block.count) { block[index] = unsafe bytes[index] }
        }
        inner.update(data: block.map { $0 ^ 0x36 })
        outer.update(data: block.map { $0 ^ 0x5C })
    }

    func digest(of text: [UInt8]) -> SHA256Digest {
        var (inner, outer) = (inner, outer)
        inner.add(text)
        outer.add(inner.finalize())
        return outer.finalize()
    }
}

extension SHA256 {
    /// Adds bytes, without the detour of `update(data:)` through generic regions of data.
    fileprivate mutating func add(_ bytes: some ContiguousBytes) {
        // Guard: the pointer is used within the call.
        unsafe bytes.withUnsafeBytes { unsafe update(bufferPointer: $0) }
    }
}

extension ContiguousBytes {
    /// The SHA-256 digest.
    var sha256: SHA256Digest {
        var hash = SHA256()
        hash.add(self)
        return hash.finalize()
    }

    /// The SHA-256 digest in hexadecimal digits.
    var sha256Text: String { sha256.hexadecimalText }
}

/// A date as AWS signatures write it: `20150830T123600Z`, and `20150830` for the day.
struct AWSDate: Sendable, Hashable {
    let text: String
    let day: String
    /// The whole seconds since 1970.
    private let seconds: Int

    init(_ date: Date) {
        let seconds = Self.seconds(of: date)
        self.seconds = seconds
        let (days, rest) = (Self.floorDivision(seconds, 86400), Self.remainder(seconds, 86400))
        let (year, month, dayOfMonth) = Self.civil(days)
        day = Self.digits(year, 4) + Self.digits(month, 2) + Self.digits(dayOfMonth, 2)
        text =
            day + "T" + Self.digits(rest / 3600, 2) + Self.digits(rest / 60 % 60, 2)
            + Self.digits(rest % 60, 2) + "Z"
    }

    /// Whether a date is written in the same way.
    func isSame(as date: Date) -> Bool { Self.seconds(of: date) == seconds }

    private static func seconds(of date: Date) -> Int {
        // Dates outside of the years 1 to 9999 have no such text; no server accepts them.
        Int(min(max(date.timeIntervalSince1970.rounded(.down), -62_135_596_800), 253_402_300_799))
    }

    /// The day of the Gregorian calendar, counted in years that begin in March, so that the leap day is last
    /// (E. G. Richards, "Calendars", in the Explanatory Supplement to the Astronomical Almanac, 2013).
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floorDivision(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    private static func floorDivision(_ value: Int, _ divisor: Int) -> Int {
        value >= 0 ? value / divisor : (value - divisor + 1) / divisor
    }

    private static func remainder(_ value: Int, _ divisor: Int) -> Int {
        value - floorDivision(value, divisor) * divisor
    }

    private static func digits(_ value: Int, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
#endif
