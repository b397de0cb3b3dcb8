public import RxHTTP
public import RxLite

/// Persistent storage for a ``Session``'s credential: a file, a keychain, a vault.
///
/// ```swift
/// let session = Session(store: CredentialFile("/var/lib/app/credential.json", on: files)) { … }
/// ```
///
/// A session runs one operation at a time. Both streams are cold.
public protocol CredentialStore: Sendable {
    /// The saved credential; `nil` if there is none. One value, then completion.
    func load() -> Observable<Credential?, NetworkError>

    /// Replaces the saved credential atomically, and completes when the change is durable. `nil` erases the
    /// saved credential.
    func save(_ credential: Credential?) -> Observable<Void, NetworkError>
}
