import FoundationEssentials
public import RxHTTP
public import RxLite

/// A file that holds a session's credential: of mode 0600, replaced as a whole at each save and synced to the disk.
///
/// Its folder must exist. Two sessions, or two processes, must not share one file: each would write over what the
/// other saved.
public struct CredentialFile: CredentialStore {
    private let path: String
    private let files: any FileSystem

    /// What a credential takes is far less; what has more is some other file.
    private static let limit = 1 << 20

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - path: the file; made by the first save.
    ///   - files: where the file is.
    public init(_ path: String, on files: any FileSystem) {
        self.path = path
        self.files = files
    }

    /// The credential in the file; `nil` where it holds none or is not there. Fails with `file` if it holds something else,
    /// and with `untrustedFile` if it is a symbolic link or belongs to another user.
    public func load() -> Observable<Credential?, NetworkError> {
        files.contents(of: path, limit: Self.limit)
            .mapError { $0.code == .tooLarge ? NetworkError(.file, $0.message) : $0 }
            .map { [path] bytes throws(NetworkError) in
                guard let bytes else { return nil }
                return try SavedCredential(bytes: bytes, path: path).credentials.first
            }
    }

    /// Writes the file anew; for `nil` with no credential in it, since a file that is only removed may come back
    /// with a crash of the machine.
    public func save(_ credential: Credential?) -> Observable<Void, NetworkError> {
        .deferred { [files, path] () throws(NetworkError) in
            files.replace(path, with: try SavedCredential(credential).bytes())
        }
    }
}

/// The content of the file: JSON, so that later versions can add to it.
private struct SavedCredential: Codable {
    var version = 1
    /// One or none. A list, so that none is said and not merely left out.
    let credentials: [Credential]

    init(_ credential: Credential?) { credentials = credential.map { [$0] } ?? [] }

    init(bytes: [UInt8], path: String) throws(NetworkError) {
        do {
            self = try JSONDecoder().decode(SavedCredential.self, from: Data(bytes))
        } catch {
            throw NetworkError(.file, "\(path) cannot be read: it is no saved credential")
        }
        guard version == 1 else {
            throw NetworkError(.file, "\(path) cannot be read: it is of version \(version)")
        }
    }

    /// - Throws: `file` for a date that JSON cannot hold.
    func bytes() throws(NetworkError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(self))
        } catch {
            throw NetworkError(.file, "the credential cannot be saved: its date is out of range")
        }
    }
}
