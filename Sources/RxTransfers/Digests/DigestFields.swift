import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite

/// The digests in the header section of a response, and the fields that ask for them.
///
/// `Content-Digest` and `Content-MD5` (RFC 1864) belong to the content of one message, `Repr-Digest` (RFC 9530 §3) and
/// `x-amz-checksum-…` to the whole representation.
struct DigestFields: Sendable, Equatable {
    /// The digests of the message's content.
    var content: [TransferDigest] = []
    /// The digests of the whole representation.
    var representation: [TransferDigest] = []

    /// The digests that a response carries. A coded body is not compared with any: digests cover the coded bytes, which the
    /// transport has decoded.
    init(_ head: ResponseHead) {
        guard !head.isCoded else { return }
        content = Self.digests(in: head[.contentDigest])
        representation = Self.digests(in: head[.reprDigest])
        if let digest = head[.contentMD5].flatMap({ TransferDigest(.md5, base64: $0) }) {
            content.append(digest)
        }
        // A checksum of checksums has the number of parts behind it, and cannot be compared with the content.
        guard head[.checksumType].map({ $0.lowercasedToken() == "full_object" }) ?? true else { return }
        for (algorithm, name) in Self.checksums {
            guard let digest = head[name].flatMap({ TransferDigest(algorithm, base64: $0) }) else { continue }
            representation.append(digest)
        }
    }

    private static func digests(in field: String?) -> [TransferDigest] {
        guard let field else { return [] }
        let digests = DigestField.digests(in: field)
        return TransferDigest.Algorithm.allCases.compactMap { algorithm in
            // MD5 and checksums are deprecated there (RFC 9530 §5).
            guard algorithm == .sha256 || algorithm == .sha512 else { return nil }
            return digests[algorithm.rawValue].flatMap { TransferDigest(algorithm, $0) }
        }
    }

    private static let checksums: [(TransferDigest.Algorithm, HTTPField.Name)] = [
        (.sha256, .checksum("sha256")), (.sha1, .checksum("sha1")), (.crc64nvme, .checksum("crc64nvme")),
        (.crc32c, .checksum("crc32c")),
        (.crc32, .checksum("crc32")),
    ]

    /// The digests of a body that is the whole representation.
    var ofWhole: [TransferDigest] { representation + content }

    /// The fields that ask for digests, of the algorithms that `digests(in:)` reads. ``DraftDialect`` asks by
    /// the same value.
    static let wanted: [(name: HTTPField.Name, value: String)] = [
        (.wantContentDigest, "sha-256=10, sha-512=5"), (.wantReprDigest, "sha-256=10, sha-512=5"),
    ]
}

extension TransferDigest {
    /// The member of a `Content-Digest` or `Repr-Digest` field.
    var fieldValue: String { "\(algorithm.rawValue)=:\(base64):" }

    /// The name of the field of S3 with this algorithm; `nil` if there is none. `S3Documents` and
    /// ``S3MultipartMachine`` have the names elsewhere in the protocol.
    static func checksumField(_ algorithm: Algorithm) -> HTTPField.Name? {
        switch algorithm {
        case .sha256: .checksum("sha256")
        case .sha1: .checksum("sha1")
        case .crc64nvme: .checksum("crc64nvme")
        case .crc32c: .checksum("crc32c")
        case .crc32: .checksum("crc32")
        case .md5: .contentMD5
        case .sha512: nil
        }
    }
}

extension HTTPField.Name {
    static let contentDigest = HTTPField.Name("Content-Digest")!
    static let reprDigest = HTTPField.Name("Repr-Digest")!
    static let wantContentDigest = HTTPField.Name("Want-Content-Digest")!
    static let wantReprDigest = HTTPField.Name("Want-Repr-Digest")!
    static let contentMD5 = HTTPField.Name("Content-MD5")!
    static let checksumType = HTTPField.Name("x-amz-checksum-type")!

    /// The field of S3 with a checksum.
    static func checksum(_ name: String) -> HTTPField.Name {
        // Guard: the names above are tokens.
        HTTPField.Name("x-amz-checksum-\(name)")!
    }
}

/// Compares content that arrives in pieces with the digests that it must have.
struct DigestCheck: Sendable {
    private var parts: [(expected: TransferDigest, running: TransferDigest.Running)]

    init(_ expected: [TransferDigest]) {
        var known: Set<TransferDigest> = []
        parts = expected.filter { known.insert($0).inserted }.map { ($0, .init($0.algorithm)) }
    }

    /// Whether there is nothing to compare with.
    var isEmpty: Bool { parts.isEmpty }

    mutating func update(_ bytes: some Collection<UInt8>) {
        for index in parts.indices { parts[index].running.update(bytes) }
    }

    /// The strongest digest that has been compared; `nil` if there was none.
    ///
    /// - Throws: `digestMismatch` for content with another digest.
    func finish(of name: String) throws(NetworkError) -> TransferDigest? {
        for part in parts where part.running.finished != part.expected {
            throw .digestMismatch(
                "\(name) has the \(part.running.finished), but \(part.expected) was announced")
        }
        let order = TransferDigest.Algorithm.allCases
        return parts.map(\.expected).min {
            order.firstIndex(of: $0.algorithm) ?? 0 < order.firstIndex(of: $1.algorithm) ?? 0
        }
    }
}

extension NetworkError {
    static func digestMismatch(_ message: String) -> NetworkError { NetworkError(.digestMismatch, message) }
}

extension FileSystem {
    /// Computes digests of a part of a file, from the disk.
    ///
    /// - Parameter count: the number of bytes. Default to the end of the file.
    func digests(
        of path: String, _ algorithms: [TransferDigest.Algorithm], from offset: Int64 = 0,
        count: Int64? = nil,
        expecting status: FileStatus? = nil
    ) -> Observable<[TransferDigest], NetworkError> {
        read(path, from: offset, count: count, expecting: status)
            .reduce(algorithms.map(TransferDigest.Running.init)) { digests, bytes in
                digests.map { digest in
                    var digest = digest
                    digest.update(bytes)
                    return digest
                }
            }
            .map { $0.map(\.finished) }
    }
}
