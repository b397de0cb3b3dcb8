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
/// All streams are cold. A session loads or saves one at a time, while it may have the lease.
public protocol CredentialStore: Sendable {
    /// The saved credential; `nil` if there is none. One value, then completion.
    func load() -> Observable<Credential?, NetworkError>

    /// Replaces the saved credential atomically, and completes when the change is durable. `nil` erases the
    /// saved credential.
    func save(_ credential: Credential?) -> Observable<Void, NetworkError>

    /// The exclusive right to replace the credential, among all sessions and processes that share the store.
    ///
    /// Sends one value once the right is granted, and does not finish: the right is returned when the subscription is
    /// cancelled, or when the process ends. Fails with ``NetworkError/Code/locked`` if another session keeps it for too
    /// long.
    ///
    /// Default: granted at once, for stores that only one session uses.
    func lease() -> Observable<Void, NetworkError>
}

extension CredentialStore {
    /// Granted at once, for stores that only one session uses.
    public func lease() -> Observable<Void, NetworkError> { .concat([.just(()), .never()]) }
}
