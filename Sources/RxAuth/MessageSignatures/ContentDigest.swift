#if Auth
import Crypto
import FoundationEssentials
import HTTPTypes
import RawStructuredFieldValues
import RxHTTP

/// An algorithm of the fields `Content-Digest` and `Repr-Digest` (RFC 9530).
public enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// SHA-256.
    case sha256 = "sha-256"
    /// SHA-512.
    case sha512 = "sha-512"

    /// The digest of bytes.
    func digest(of bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .sha256: Array(SHA256.hash(data: bytes))
        case .sha512: Array(SHA512.hash(data: bytes))
        }
    }
}

/// The value of a `Content-Digest` or `Repr-Digest` field (RFC 9530).
public struct ContentDigest: Sendable, Hashable {
    /// The digests of the known algorithms.
    public private(set) var digests: [DigestAlgorithm: [UInt8]] = [:]

    /// The digests of content.
    ///
    /// - Parameters:
    ///   - content: the bytes as they are sent, with their content coding.
    ///   - algorithms: the algorithms.
    public init(of content: [UInt8], _ algorithms: Set<DigestAlgorithm> = [.sha256]) {
        for algorithm in algorithms { digests[algorithm] = algorithm.digest(of: content) }
    }

    init(_ digests: [DigestAlgorithm: [UInt8]]) { self.digests = digests }

    /// Reads a field; digests of unknown algorithms are skipped. `nil` for a malformed field, or one with more than
    /// 8 KiB.
    public init?(field: String) {
        guard let members = StructuredText.dictionary(field) else { return nil }
        for algorithm in DigestAlgorithm.allCases {
            guard let member = members[algorithm.rawValue] else { continue }
            guard case .item(let item) = member, case .undecodedByteSequence(let text) = item.rfc9651BareItem,
                let bytes = Data(base64Encoded: text)
            else { return nil }
            digests[algorithm] = Array(bytes)
        }
    }

    /// The value of the field.
    public var fieldValue: String {
        digests.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key.rawValue)=:\(Data($0.value).base64EncodedString()):" }.joined(separator: ", ")
    }

    /// Whether there is a digest of a known algorithm, and each of them is that of the content.
    public func matches(_ content: [UInt8]) -> Bool {
        !digests.isEmpty && digests.allSatisfy { $0.key.digest(of: content) == $0.value }
    }
}

extension ContentDigest: CustomStringConvertible {
    /// The value of the field.
    public var description: String { fieldValue }
}

/// Digests of content that is read piece by piece. Each algorithm of ``DigestAlgorithm`` needs a line in each member.
struct RunningContentDigest: Sendable {
    private var sha256: SHA256?
    private var sha512: SHA512?

    init(_ algorithms: Set<DigestAlgorithm>) {
        if algorithms.contains(.sha256) { sha256 = SHA256() }
        if algorithms.contains(.sha512) { sha512 = SHA512() }
    }

    func adding(_ bytes: [UInt8]) -> Self {
        var digest = self
        digest.sha256?.update(data: bytes)
        digest.sha512?.update(data: bytes)
        return digest
    }

    var result: ContentDigest {
        var digests: [DigestAlgorithm: [UInt8]] = [:]
        digests[.sha256] = sha256.map { Array($0.finalize()) }
        digests[.sha512] = sha512.map { Array($0.finalize()) }
        return ContentDigest(digests)
    }
}
#endif
