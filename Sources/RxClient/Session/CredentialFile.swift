import FoundationEssentials
public import RxHTTP
public import RxLite

/// A file with a session's credential, with mode 0600. Each save replaces the file atomically and syncs it to
/// the disk.
///
/// Its folder must exist. Two sessions, or two processes, must not share one file: each would overwrite the
/// changes of the other.
public struct CredentialFile: CredentialStore {
    private let path: String
    private let files: any FileSystem

    /// A credential is much smaller; a larger file is something else.
    private static let limit = 1 << 20

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - path: the path of the file; the first save creates it.
    ///   - files: the file system of the file.
    public init(_ path: String, on files: any FileSystem) {
        self.path = path
        self.files = files
    }

    /// The credential in the file; `nil` if the file has none or does not exist. Fails with `file` for other
    /// content, and with `untrustedFile` if the file is a symbolic link or belongs to another user.
    public func load() -> Observable<Credential?, NetworkError> {
        files.contents(of: path, limit: Self.limit)
            .mapError { $0.code == .tooLarge ? NetworkError(.file, $0.message) : $0 }
            .map { [path] bytes throws(NetworkError) in
                guard let bytes else { return nil }
                return try SavedCredential(bytes: bytes, path: path).credentials.first
            }
    }

    /// Replaces the file. For `nil` the new file contains no credential: a file that is only removed may
    /// reappear after a crash of the machine.
    public func save(_ credential: Credential?) -> Observable<Void, NetworkError> {
        .deferred { [files, path] () throws(NetworkError) in
            files.replace(path, with: try SavedCredential(credential).bytes())
        }
    }
}

/// The content of the file: JSON, which later versions can extend.
private struct SavedCredential: Codable {
    var version = 1
    /// One credential or none. A list states explicitly that there is none.
    let credentials: [Credential]

    init(_ credential: Credential?) { credentials = credential.map { [$0] } ?? [] }

    init(bytes: [UInt8], path: String) throws(NetworkError) {
        do {
            self = try JSONDecoder().decode(SavedCredential.self, from: Data(bytes))
        } catch {
            throw NetworkError(.file, "\(path) cannot be read: it is not a saved credential")
        }
        guard version == 1 else {
            throw NetworkError(.file, "\(path) cannot be read: its version \(version) is unknown")
        }
    }

    /// - Throws: `file` for a date that JSON cannot hold.
    func bytes() throws(NetworkError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(self))
        } catch {
            throw NetworkError(.file, "the credential cannot be saved: its expiry date is out of range")
        }
    }
}
