import FoundationEssentials
public import RxHTTP
public import RxLite

/// Persistent storage for a ``Session``'s credential: a file, a keychain, a vault.
///
/// ```swift
/// let session = Session(store: CredentialFile("/var/lib/app/credential.json", on: files)) { logIn() }
/// ```
///
/// Several sessions may share a store, also in different processes, if it implements ``lease()``. A session renews,
/// saves and erases a credential only while it has the lease, and reads the store again first, so that no refresh token
/// is sent twice and no session overwrites the credential of another.
///
/// If it also implements ``changes()``, a credential that one session saves reaches the others at once, and so does a
/// logout.
///
/// All streams are cold. A session saves one credential at a time, while it has the lease; it may load at any time.
public protocol CredentialStore: Sendable {
    /// The saved credential; `nil` if there is none. One value, then completion.
    func load() -> Observable<Credential?, NetworkError>

    /// Replaces the saved credential atomically, and completes when the change is durable. `nil` erases the
    /// saved credential.
    ///
    /// Fails with ``NetworkError/Code/superseded``, and changes nothing, if the lease has ended and another session has
    /// got it: the session then gives way to the credential of the other.
    func save(_ credential: Credential?) -> Observable<Void, NetworkError>

    /// The exclusive right to replace the credential, among all sessions and processes that share the store.
    ///
    /// Sends one value once the right is granted, and does not finish: the right is returned when the subscription is
    /// cancelled, or when the process ends. Fails with ``NetworkError/Code/locked`` if another session keeps it for too
    /// long.
    ///
    /// Default: granted at once, for stores that only one session uses.
    func lease() -> Observable<Void, NetworkError>

    /// Sends a value each time another session may have replaced or erased the credential; the session then loads it.
    ///
    /// Each session subscribes once, before it loads for the first time. After a loss of its connection, a store sends a
    /// value when it is connected again, because it may have missed a change.
    ///
    /// Default: never. A session then finds the credential of another when it renews its own.
    func changes() -> Observable<Void, Never>
}

extension CredentialStore {
    /// Granted at once, for stores that only one session uses.
    public func lease() -> Observable<Void, NetworkError> { .concat([.just(()), .never()]) }

    /// Never sends anything.
    public func changes() -> Observable<Void, Never> { .never() }
}

extension NetworkError.Code {
    /// The holder of a lease has been replaced by another: the change that it wanted to make has not been made.
    public static let superseded = Self(rawValue: "superseded")
}

// MARK: - A file

/// A file with a session's credential, with mode 0600. Each save replaces the file atomically and syncs it to
/// the disk.
///
/// Its folder must exist. Sessions of this process and of others may share the file: a lock on a file beside it, with
/// the suffix `.lock`, lets one of them renew the credential at a time.
public struct CredentialFile: CredentialStore {
    private let path: String
    private let files: any FileSystem

    /// A credential is much smaller; a larger file is something else.
    private static let limit = 1 << 20

    /// How often, and how many times, a file locked elsewhere is tried again: for 30 s, the longest time that a renewal
    /// should need. The message and the documentation of ``lease()`` name that time.
    private static let polling = (interval: Duration.milliseconds(50), count: 600)

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

    /// Locks the file beside this one, against other sessions of the process and other processes. The lock ends with the
    /// process.
    ///
    /// Waits up to 30 s while another session has the lock, then fails with `locked`. Fails at once with `file` if the
    /// file system refuses to lock, and with `untrustedFile` for a symbolic link or a file of another user.
    public func lease() -> Observable<Void, NetworkError> {
        // The documentation names the suffix; processes with other versions of this library must lock the same file.
        let lockPath = path + ".lock"
        let lock = files.lock(lockPath)
        let attempt = Observable<Void, NetworkError>(scheduler: lock.scheduler) { observer in
            let scope = observer.scope.child()
            lock
                .flatMap(.concat) { unlock -> Observable<Void, NetworkError> in
                    scope.onClose(unlock)
                    return .concat([.just(()), .never()])
                }
                .subscribe(
                    Observer(scope: scope, next: observer.next) { completion in
                        scope.close()
                        observer.end(completion)
                    })
        }
        let policy = RetryPolicy<NetworkError> { error, history in
            error.code == .locked && history.count < Self.polling.count ? Self.polling.interval : nil
        } stamp: { [path] error, _ in
            guard error.code == .locked else { return }
            error.message = "another session or process has been renewing the credential in \(path) for 30 s"
        }
        return attempt.retry(policy)
    }
}

/// The content of the file: JSON with the names of these properties, which earlier versions have written and later ones
/// may extend.
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
