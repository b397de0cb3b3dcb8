#if Auth
import Crypto
import FoundationEssentials
import RxHTTP

/// A checksum that S3 verifies and stores with an object.
public enum AWSChecksum: Sendable, Hashable, CaseIterable {
    /// CRC-32 (ISO/IEC 3309).
    case crc32
    /// CRC-32C (Castagnoli, RFC 9260 Appendix B).
    case crc32c
    /// CRC-64 by the polynomial of NVM Express.
    case crc64nvme
    /// SHA-1.
    case sha1
    /// SHA-256.
    case sha256

    /// The name of the field or trailer with the checksum.
    var field: String {
        switch self {
        case .crc32: "x-amz-checksum-crc32"
        case .crc32c: "x-amz-checksum-crc32c"
        case .crc64nvme: "x-amz-checksum-crc64nvme"
        case .sha1: "x-amz-checksum-sha1"
        case .sha256: "x-amz-checksum-sha256"
        }
    }

    /// The number of bytes of the checksum.
    private var size: Int {
        switch self {
        case .crc32, .crc32c: 4
        case .crc64nvme: 8
        case .sha1: 20
        case .sha256: 32
        }
    }

    /// The number of characters of the checksum in Base64.
    var textLength: Int { (size + 2) / 3 * 4 }

    /// A checksum of bytes that arrive in pieces.
    struct Running {
        private enum State {
            case crc(UInt64, CyclicRedundancyCheck)
            case sha1(Insecure.SHA1)
            case sha256(SHA256)
        }

        private var state: State

        init(_ checksum: AWSChecksum) {
            switch checksum {
            case .crc32: state = .crc(CyclicRedundancyCheck.crc32.initial, .crc32)
            case .crc32c: state = .crc(CyclicRedundancyCheck.crc32c.initial, .crc32c)
            case .crc64nvme: state = .crc(CyclicRedundancyCheck.crc64nvme.initial, .crc64nvme)
            case .sha1: state = .sha1(Insecure.SHA1())
            case .sha256: state = .sha256(SHA256())
            }
        }

        mutating func update(_ bytes: some DataProtocol) {
            switch state {
            case .crc(let value, let check): state = .crc(check.updated(value, with: bytes), check)
            case .sha1(var hash):
                hash.update(data: bytes)
                state = .sha1(hash)
            case .sha256(var hash):
                hash.update(data: bytes)
                state = .sha256(hash)
            }
        }

        /// The checksum of all bytes so far, in Base64.
        var text: String {
            switch state {
            case .crc(let value, let check): Data(check.finished(value)).base64EncodedString()
            case .sha1(let hash): Data(hash.finalize()).base64EncodedString()
            case .sha256(let hash): Data(hash.finalize()).base64EncodedString()
            }
        }
    }
}
#endif
