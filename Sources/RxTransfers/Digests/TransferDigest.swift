import FoundationEssentials
import RxHTTP

/// A digest of the content of a transfer: an algorithm and its value.
///
/// ```swift
/// options.digest = TransferDigest(.sha256, hexadecimal: published)
/// ```
public struct TransferDigest: Sendable, Hashable {
    /// An algorithm, with its name in the fields of RFC 9530.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable, Codable {
        // In the order of preference, by which `DigestCheck` and `TusDialect` choose; records have the names.

        /// SHA-256 (FIPS 180-4).
        case sha256 = "sha-256"
        /// SHA-512 (FIPS 180-4).
        case sha512 = "sha-512"
        /// SHA-1 (FIPS 180-4), for protocols that require it. It detects faults, not forgeries.
        case sha1 = "sha"
        /// CRC-64 by the polynomial of NVM Express. It detects faults, not forgeries.
        case crc64nvme
        /// CRC-32C (RFC 9260 Appendix B). It detects faults, not forgeries.
        case crc32c
        /// CRC-32 (ISO/IEC 3309). It detects faults, not forgeries.
        case crc32
        /// MD5 (RFC 1321), for `Content-MD5` only. It detects faults, not forgeries.
        case md5 = "md5"

        /// The number of bytes of a digest.
        public var size: Int {
            switch self {
            case .sha256: 32
            case .sha512: 64
            case .sha1: 20
            case .crc64nvme: 8
            case .crc32c, .crc32: 4
            case .md5: 16
            }
        }
    }

    /// The algorithm.
    public let algorithm: Algorithm
    /// The bytes of the digest.
    public let bytes: [UInt8]

    /// Creates a digest from its bytes; `nil` if their number is not that of the algorithm.
    public init?(_ algorithm: Algorithm, _ bytes: [UInt8]) {
        guard bytes.count == algorithm.size else { return nil }
        self.init(unchecked: bytes, algorithm)
    }

    /// Creates a digest from hexadecimal digits, of either case; `nil` for other text.
    public init?(_ algorithm: Algorithm, hexadecimal text: String) {
        var bytes: [UInt8] = []
        var digits = text.utf8[...]
        while let high = digits.popFirst() {
            guard let high = high.hexDigitValue, let low = digits.popFirst()?.hexDigitValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        self.init(algorithm, bytes)
    }

    /// Creates a digest from Base64 (RFC 4648 §4); `nil` for other text.
    public init?(_ algorithm: Algorithm, base64 text: String) {
        guard text.utf8.count <= 128, let data = Data(base64Encoded: text) else { return nil }
        self.init(algorithm, Array(data))
    }

    /// Computes the digest of bytes.
    public init(of content: some Collection<UInt8>, _ algorithm: Algorithm = .sha256) {
        var running = Running(algorithm)
        running.update(content)
        self = running.finished
    }

    fileprivate init(unchecked bytes: [UInt8], _ algorithm: Algorithm) {
        self.algorithm = algorithm
        self.bytes = bytes
    }

    /// The bytes in Base64.
    public var base64: String { Data(bytes).base64EncodedString() }

    /// The bytes as hexadecimal digits.
    public var hexadecimal: String {
        bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
}

extension TransferDigest: CustomStringConvertible {
    // Records store this text; `init(stored:)` reads it, and `ContentIdentity` compares it.

    /// The algorithm and the hexadecimal digits.
    public var description: String { "\(algorithm.rawValue) \(hexadecimal)" }
}

extension TransferDigest {
    /// A digest of content that arrives in pieces.
    public struct Running: Sendable {
        private enum State: Sendable {
            case sha(SHA2)
            case sha1(SHA1)
            case crc(UInt64, CyclicRedundancyCheck)
            case md5(MD5)
            /// While the state is being changed.
            case moved
        }

        /// The algorithm.
        public let algorithm: Algorithm
        private var state: State

        /// Creates the digest of no content.
        public init(_ algorithm: Algorithm) {
            self.algorithm = algorithm
            state =
                switch algorithm {
                case .sha256: .sha(.sha256)
                case .sha512: .sha(.sha512)
                case .sha1: .sha1(SHA1())
                case .crc64nvme: .crc(CyclicRedundancyCheck.crc64nvme.initial, .crc64nvme)
                case .crc32c: .crc(CyclicRedundancyCheck.crc32c.initial, .crc32c)
                case .crc32: .crc(CyclicRedundancyCheck.crc32.initial, .crc32)
                case .md5: .md5(MD5())
                }
        }

        /// Adds the next bytes.
        public mutating func update(_ bytes: some Collection<UInt8>) {
            let current = state
            // Released here, so that the buffers are changed in place.
            state = .moved
            switch current {
            case .sha(var hash):
                hash.update(bytes)
                state = .sha(hash)
            case .sha1(var hash):
                hash.update(bytes)
                state = .sha1(hash)
            case .crc(let value, let check): state = .crc(check.updated(value, with: bytes), check)
            case .md5(var hash):
                hash.update(bytes)
                state = .md5(hash)
            case .moved: break
            }
        }

        /// The digest of the bytes so far.
        public var finished: TransferDigest {
            switch state {
            case .sha(let hash): TransferDigest(unchecked: hash.finish(), algorithm)
            case .sha1(let hash): TransferDigest(unchecked: hash.finish(), algorithm)
            case .crc(let value, let check): TransferDigest(unchecked: check.finished(value), algorithm)
            case .md5(let hash): TransferDigest(unchecked: hash.finish(), algorithm)
            case .moved: TransferDigest(unchecked: [], algorithm)
            }
        }
    }
}
