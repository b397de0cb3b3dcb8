#if Fleet
public import RxCache
public import RxClient
public import RxHTTP

/// An event in a fleet, as one process observes it.
public enum FleetEvent: Sendable {
    /// Something about the shared login.
    case login(Login)
    /// Another process, or this one, has been told by the server to send no requests for a while.
    case limit(scope: String, closedFor: Duration)
    /// Another process has removed stored responses.
    case invalidation(CacheSelection)
    /// The circuit of a host has opened or closed in this process or in another one.
    case circuit(host: String, CircuitBreaker.Change)
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
#endif
