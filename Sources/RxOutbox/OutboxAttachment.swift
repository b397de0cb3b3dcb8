#if Outbox
import RxHTTP
import RxLite

/// A stored file that belongs to an entry.
public struct OutboxAttachment: Sendable, Hashable, Codable {
    // Stores have the members, in JSON by their names, and in `CompactEntry` by their positions.

    /// The path.
    public let path: String
    /// The size in bytes when the entry was written.
    public let size: Int64
    /// The SHA-256 digest of the content when the entry was written, as hexadecimal text.
    public let digest: String

    /// Creates the description of a file.
    public init(path: String, size: Int64, digest: String) {
        self.path = path
        self.size = size
        self.digest = digest
    }
}

extension OutboxAttachment {
    /// Reads files and describes them. Fails with `file` if one is missing.
    static func describe(
        _ paths: [String], in files: any FileSystem
    ) -> Observable<[OutboxAttachment], NetworkError> {
        Observable<String, NetworkError>.sequence(paths).flatMap(.concat) { path in
            files.status(of: path).flatMap { status throws(NetworkError) in
                guard let status else {
                    throw NetworkError(.file, "the attachment \(path) does not exist")
                }
                return digest(of: path, status, in: files).map {
                    OutboxAttachment(path: path, size: status.size, digest: $0)
                }
            }
        }
        .collect()
    }

    /// The first of the attachments that is missing or has another content; `nil` if all are as they were. One value, then
    /// the end. Fails with `file` if a file cannot be read.
    static func firstChange(
        in attachments: [OutboxAttachment], of files: any FileSystem
    ) -> Observable<OutboxAttachment?, NetworkError> {
        Observable<OutboxAttachment, NetworkError>.sequence(attachments).flatMap(.concat) { attachment in
            files.status(of: attachment.path).flatMap { status -> Observable<Bool, NetworkError> in
                guard let status, status.size == attachment.size else { return .just(true) }
                return digest(of: attachment.path, status, in: files).map { $0 != attachment.digest }
            }
            .filter { $0 }.map { _ in attachment }
        }
        .take(1).collect().map(\.first)
    }

    private static func digest(
        of path: String, _ status: FileStatus, in files: any FileSystem
    ) -> Observable<String, NetworkError> {
        files.read(path, from: 0, count: nil, expecting: status)
            .reduce(SHA2.sha256) { digest, chunk in
                var digest = digest
                digest.update(chunk)
                return digest
            }
            .map(\.hexadecimal)
    }
}

extension SHA2 {
    /// The digest as hexadecimal text.
    fileprivate var hexadecimal: String {
        finish().map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}
#endif
