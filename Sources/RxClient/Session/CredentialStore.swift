public import RxHTTP
public import RxLite

/// Where a ``Session`` keeps its credential while the process is not there: a file, a keychain, a vault.
///
/// ```swift
/// let session = Session(store: CredentialFile("/var/lib/app/credential.json", on: files)) { … }
/// ```
///
/// A session calls it for one operation at a time. Both streams are cold.
public protocol CredentialStore: Sendable {
    /// What was saved last; `nil` where nothing has been. One value, then the end.
    func load() -> Observable<Credential?, NetworkError>

    /// Puts `credential` in place of what was saved before, whole or not at all, and ends when that will outlive
    /// the machine. `nil` leaves nothing of it.
    func save(_ credential: Credential?) -> Observable<Void, NetworkError>
}
