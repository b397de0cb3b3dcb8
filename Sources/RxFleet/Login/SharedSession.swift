#if Fleet
public import RxClient
public import RxHTTP
public import RxLite

extension Session {
    /// Creates a session whose login is that of a fleet: one credential for all processes that share a store.
    ///
    /// ```swift
    /// let session = Session(
    ///     sharing: SharedCredential(in: store, key: "shop", sealing: keys), renewal: { renew($0) }, login: { logIn() })
    /// ```
    ///
    /// One process renews the credential, and the others receive it. A logout, by ``RxClient/Session/logOut()`` or because
    /// the server has refused the login, reaches all of them; so does a login. If the response to a renewal is lost, the
    /// refresh token is not sent again: `login` follows.
    ///
    /// - Parameters:
    ///   - credential: the shared credential.
    ///   - initial: the credential from elsewhere, if the store has none. Default `nil`.
    ///   - isExpiry: whether a failed request means that the login has expired. Default: an envelope that says so, or status
    ///     401.
    ///   - isRejection: whether a failed login means that the credentials are wrong. Default: an envelope failure, or a
    ///     status from 400 to 499 that is not transient.
    ///   - placement: the place of the credential in a request. Default: `Authorization: Bearer`.
    ///   - leeway: how long before its expiry a credential is renewed. Default 30 s.
    ///   - requiresLogin: whether the first request without a credential waits for a login. Default false.
    ///   - loginAttemptLimit: the maximum number of unsuccessful logins of this process within `loginAttemptWindow`. Default
    ///     five.
    ///   - loginAttemptWindow: the length of time in which logins count. Default 30 s.
    ///   - logsOutAfterSecondRefusal: whether the session logs out if the server refuses a request again after a new login.
    ///     Default false: only the request fails.
    ///   - clock: the clock for the login limit and expiry dates. Default: that of the session's first client.
    ///   - renewal: makes a new credential from the current one. Default `nil`: always `login`.
    ///   - login: gets a credential.
    public convenience init(
        // The defaults are those of the initializer in RxClient.
        sharing credential: SharedCredential,
        initial: Credential? = nil,
        isExpiry: @escaping @Sendable (NetworkError) -> Bool = { $0.meansExpiredLogin() },
        isRejection: @escaping @Sendable (NetworkError) -> Bool = { $0.meansRejectedLogin },
        placement: CredentialPlacement = .bearer,
        leeway: Duration = .seconds(30),
        requiresLogin: Bool = false,
        loginAttemptLimit: Int = 5,
        loginAttemptWindow: Duration = .seconds(30),
        logsOutAfterSecondRefusal: Bool = false,
        clock: (any Scheduler)? = nil,
        renewal: (@Sendable (Credential) -> Observable<Credential, NetworkError>)? = nil,
        login: @escaping @Sendable () -> Observable<Credential, NetworkError>
    ) {
        let renewing = renewal.map { renewal in
            { @Sendable (current: Credential) in credential.renewing(current) { renewal(current) } }
        }
        self.init(
            credential: initial, store: credential, isExpiry: isExpiry,
            // A login follows a renewal whose response was lost, as it follows a refused one.
            isRejection: { $0.code == .renewalLost || isRejection($0) }, placement: placement, leeway: leeway,
            requiresLogin: requiresLogin, loginAttemptLimit: loginAttemptLimit,
            loginAttemptWindow: loginAttemptWindow,
            logsOutAfterSecondRefusal: logsOutAfterSecondRefusal, clock: clock, renewal: renewing,
            login: { credential.gaining(by: login) })
    }
}
#endif
