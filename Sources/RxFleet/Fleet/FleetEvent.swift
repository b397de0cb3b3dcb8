#if Fleet
public import RxCache
public import RxHTTP

/// An event in a fleet, as one process observes it.
public enum FleetEvent: Sendable {
    /// Something about the shared login.
    case login(Login)
    /// Another process, or this one, has been told by the server to send no requests for a while.
    case limit(scope: String, closedFor: Duration)
    /// Another process has removed stored responses.
    case invalidation(CacheSelection)
    /// The circuit of a host has opened for a time, or closed (`nil`), in this process or in another one.
    case circuit(host: String, openFor: Duration?)
    /// The store cannot be reached, or refuses: what the fleet shares is done by this process alone until ``recovered``.
    case degraded(NetworkError)
    /// The store can be reached again.
    case recovered

    /// An event of the shared login.
    public enum Login: Sendable, Hashable {
        /// This process has renewed the credential, and saved the version.
        case renewed(version: UInt64)
        /// Another process has saved a credential of this version.
        case received(version: UInt64)
        /// The response to a renewal has been lost: the server may have replaced the refresh token, and a second use would
        /// revoke the login. So a new login follows.
        case renewalLost(version: UInt64)
        /// This process had lost the lease when it wanted to save; the credential of another process stays.
        case superseded
        /// Another process has logged out.
        case loggedOut(version: UInt64)
    }
}

extension FleetEvent: RedactedDescription {
    /// One line, as the inspector's page of streams shows it: without credentials, queries of URLs and names of
    /// accounts.
    public var description: String {
        switch self {
        case .login(let event): "login: \(event)"
        case .limit(let scope, let time): "limit of \(scope.withoutSecrets) closed for \(time)"
        case .invalidation(let selection): "removed from the cache: \(selection)"
        case .circuit(let host, let time?): "circuit of \(host) opened for \(time)"
        case .circuit(let host, nil): "circuit of \(host) closed"
        case .degraded(let error): "degraded: \(error)"
        case .recovered: "recovered"
        }
    }
}

extension FleetEvent.Login: CustomStringConvertible {
    /// The outcome, and the version of the credential.
    public var description: String {
        switch self {
        case .renewed(let version): "renewed as version \(version)"
        case .received(let version): "version \(version) of another process"
        case .renewalLost(let version): "the response to the renewal of version \(version) was lost"
        case .superseded: "superseded by another process"
        case .loggedOut(let version): "logged out by another process at version \(version)"
        }
    }
}
#endif
