import HTTPTypes
import RxCookies
public import RxHTTP
public import RxLite
import Synchronization

// The login of a session, or the renewal in its place: one run for all requests that wait, from its start to the change
// that it makes; and the initializer that takes them as `async` functions.

extension Session {
    /// Whether a request in this lane is part of the login that runs. It bypasses the session.
    func isLoggingIn(_ lane: Lane) -> Bool {
        contents.withLock { $0.loginLane }.map(lane.isUpstream) == true
    }

    /// Whether a login runs and a request may be part of it. Nothing that waits for the login may delay such
    /// a request.
    func mayServeLogin(_ lane: Lane, usesSession: Bool) -> Bool {
        contents.withLock { $0.loginLane }.map { !usesSession || lane.isUpstream(of: $0) } == true
    }

    /// Asks the state what to do, and returns the login to wait for, if there is one: one value when it has
    /// succeeded or is no longer wanted, its error when it has failed. Starts a new login; cancelling the
    /// wait does not affect it. The rule runs under the lock.
    func decide<Decision>(
        _ rule: (inout Contents) -> (Decision, SessionState.Login?)
    ) -> (Decision, login: Observable<Void, NetworkError>) {
        let (decision, isNew, login) = contents.withLock { contents in
            let (decision, login) = rule(&contents)
            let isNew = login?.isNew == true
            if let login, isNew {
                contents.runningLogin = self.run(login.number).share(replay: 1, reset: [])
                self.countsLogins.store(true, ordering: .relaxed)
            }
            return (decision, isNew, contents.runningLogin)
        }
        // Runs the login even if no request waits for it any more. Those that wait learn of a failure through `login`;
        // `failure(of:_:for:)` has what each of them reports.
        if isNew { login.subscribe(onFailure: { _ in }) }
        return (decision, login)
    }

    private func run(_ number: Int) -> Observable<Void, NetworkError> {
        let renewal = leasedAttempt(number, repetitions: 3)
            .take(until: accountChanged.observable.filter { !self.isRunning(number) })
            .map { obtained in self.adopt(obtained, from: number) }
            .catch { error in .fail(self.recordFailure(error, of: number)) }
        return .concat([renewal, .just(())]).take(1)
    }

    /// The login of this session, or the credential of the session that has replaced it as the holder of the lease.
    private func leasedAttempt(
        _ number: Int, repetitions: Int
    ) -> Observable<ObtainedCredential, NetworkError> {
        // The lease lasts until the new credential is saved.
        let work = { @Sendable (refusal: NetworkError?) in
            self.attempt(number, refusal).take(1)
                .flatMap(.concat) { obtained in self.saved(obtained, from: number) }
        }
        return (stored.map { $0.leased(work) } ?? work(nil)).catch { error in
            guard error.code == .superseded, repetitions > 0 else { return .fail(error) }
            return self.leasedAttempt(number, repetitions: repetitions - 1)
        }
    }

    /// A new credential, and whether another session has got it, and saved it in the store.
    private struct ObtainedCredential {
        var credential: Credential
        var isAdopted = false
    }

    private func attempt(
        _ number: Int, _ refusal: NetworkError?
    ) -> Observable<ObtainedCredential, NetworkError> {
        Observable { observer in
            let isWanted = self.contents.withLock { contents in
                let isWanted = contents.state.isRunning(number)
                if isWanted { contents.loginLane = observer.scope.lane }
                return isWanted
            }
            guard isWanted else {
                return Observable<ObtainedCredential, NetworkError>.empty().subscribe(observer)
            }
            let nothing = NetworkError(.noContent, "the login or renewal finished without a credential")
            Observable.concat([self.obtain(refusal), .fail(nothing)]).subscribe(observer)
        }
    }

    /// The credential that another session has got meanwhile, or a new one.
    ///
    /// - Parameter refusal: the reason why this session does not have the lease of the store.
    private func obtain(_ refusal: NetworkError?) -> Observable<ObtainedCredential, NetworkError> {
        guard let stored else { return renewed(from: credential) }
        return stored.flush().catch { _ in .just(()) }
            .flatMap(.concat) { () -> Observable<ObtainedCredential, NetworkError> in
                let current = self.credential
                if let refusal, self.renewal != nil, current?.refreshToken != nil, !stored.hasUnsavedChange {
                    // Another session may be sending the same refresh token.
                    return .fail(refusal)
                }
                return stored.check(against: current).flatMap(.concat) { finding in
                    switch finding {
                    case .unchanged: self.renewed(from: current)
                    case .none:
                        self.adoptingRefusals(
                            of: nil, self.login().map { ObtainedCredential(credential: $0) })
                    case .newer(let found):
                        found.expires.map { $0 > self.clock.date } ?? true
                            ? .just(ObtainedCredential(credential: found, isAdopted: true))
                            : self.renewed(from: found)
                    }
                }
            }
    }

    /// `own`, or the credential that another session has saved, if the server refuses that of this session.
    private func adoptingRefusals(
        of former: Credential?, _ own: Observable<ObtainedCredential, NetworkError>
    ) -> Observable<ObtainedCredential, NetworkError> {
        own.catch { error in self.adopted(after: error, than: former) ?? .fail(error) }
    }

    private func renewed(from former: Credential?) -> Observable<ObtainedCredential, NetworkError> {
        let login = adoptingRefusals(of: former, login().map { ObtainedCredential(credential: $0) })
        guard let renewal, let former else { return login }
        return renewal(former)
            // The former credential may be that of another session, and of another account.
            .map { ObtainedCredential(credential: $0.renewing(former)) }
            .catch { error in
                guard self.isRejection(error) else { return .fail(error) }
                return self.adopted(after: error, than: former).map { $0.catch { _ in login } } ?? login
            }
    }

    /// The credential that another session has saved, if the server has refused `former` with `error`. Fails with `error`
    /// if there is none; `nil` if there cannot be one.
    private func adopted(
        after error: NetworkError, than former: Credential?
    ) -> Observable<ObtainedCredential, NetworkError>? {
        guard let stored, isRejection(error) else { return nil }
        return stored.check(against: former).map { finding throws(NetworkError) in
            guard case .newer(let found) = finding else { throw error }
            return ObtainedCredential(credential: found, isAdopted: true)
        }
    }

    /// The credential, once it is in the store or could not be saved: if the process ends here, the store must not be
    /// left with a refresh token that has already been used.
    private func saved(
        _ obtained: ObtainedCredential, from login: Int
    ) -> Observable<ObtainedCredential, NetworkError> {
        guard let stored, !obtained.isAdopted else { return .just(obtained) }
        let kept = contents.withLock { contents -> ObtainedCredential? in
            guard contents.state.isRunning(login) else { return nil }
            var obtained = obtained
            obtained.credential = obtained.credential.keepingAccount(of: contents.state.credential)
            stored.record(.saveRenewed(obtained.credential))
            return obtained
        }
        guard let kept else { return .empty() }
        return stored.flush().map { kept }
            .catch { error in error.code == .superseded ? .fail(error) : .just(kept) }
    }

    private func adopt(_ obtained: ObtainedCredential, from login: Int) {
        let date = clock.date
        let announcement = contents.withLock { contents -> Announcement? in
            let former = contents.state.credential
            let credential = obtained.credential
            let arrival = contents.state.loginSucceeded(login, credential, date: date)
            if case .unwanted = arrival { return nil }
            contents.adopted = obtained.isAdopted ? contents.state.credentialVersion : nil
            switch arrival {
            case .unwanted: return nil
            case .renewed: return Announcement(contents.endLogin(), .renewed)
            case .loggedIn:
                let jars = contents.switchJars(from: former, to: credential, seed)
                return Announcement(contents.endLogin(), .loggedIn, jars)
            }
        }
        publish(announcement)
    }

    /// - Returns: the error, which says so if the login was refused.
    private func recordFailure(_ error: NetworkError, of number: Int) -> NetworkError {
        let isRejection = isRejection(error)
        var error = error
        if isRejection { error.refusedLogin = number }
        let failure = error
        let announcement = contents.withLock { contents -> Announcement? in
            let former = contents.state.credential
            guard contents.state.loginFailed(number, failure, isRejection: isRejection) else { return nil }
            guard isRejection else { return Announcement(contents.endLogin(), nil) }
            stored?.record(.erasePrevious)
            let jars = contents.switchJars(from: former, to: nil, seed)
            return Announcement(contents.endLogin(), .loggedOut(failure), jars)
        }
        if announcement != nil && isRejection { stored?.write() }
        publish(announcement)
        return failure
    }

    /// Records that the server has refused a request again after a new login.
    ///
    /// - Returns: the error, which says so if it ends the account.
    func handleSecondRefusal(_ error: NetworkError) -> NetworkError {
        guard logsOutAfterSecondRefusal, let credentialVersion = error.credentialVersion,
            isExpiry(error)
        else {
            return error
        }
        let (refusal, announcement) = contents.withLock { contents in
            let former = contents.state.credential
            var refusal = error
            guard contents.state.endAccount(refused: credentialVersion, &refusal) else {
                return (refusal, nil as Announcement?)
            }
            self.countsLogins.store(false, ordering: .relaxed)
            stored?.record(.erasePrevious)
            let jars = contents.switchJars(from: former, to: nil, seed)
            return (refusal, Announcement(contents.endLogin(), .loggedOut(refusal), jars))
        }
        if announcement != nil { stored?.write() }
        publish(announcement)
        return refusal
    }

    /// Notifies jars and listeners of a change, outside the lock, in the order of `change(to:)`.
    private func publish(_ announcement: Announcement?) {
        guard let announcement else { return }
        for jar in announcement.jars { jar.finishSwitch() }
        guard let event = announcement.event else { return }
        // The streams of the previous account end before others learn of the change.
        if case .renewed = event {} else { accountChanged.send() }
        signal.send(event)
    }

    private func isRunning(_ login: Int) -> Bool { contents.withLock { $0.state.isRunning(login) } }

    /// The work to do outside the lock after a login has ended.
    private struct Announcement {
        /// The login, for release.
        let ended: Observable<Void, NetworkError>
        let event: Event?
        let jars: [CookieJar]

        init(_ ended: Observable<Void, NetworkError>, _ event: Event?, _ jars: [CookieJar] = []) {
            self.ended = ended
            self.event = event
            self.jars = jars
        }
    }
}

extension Session {
    /// Creates a session whose login is written with `async`.
    ///
    /// ```swift
    /// let session = Session {
    ///     let login = try await server.post("/login", ["user": user, "password": password])
    ///         .decode(Login.self).value()
    ///     return Credential(token: login.token)
    /// }
    /// ```
    ///
    /// The requests that `login` and `renewal` await bypass the session. A `NetworkError` that they throw is judged as the
    /// failure of a stream would be. A cancellation counts as the code `cancelled`, any other error as `loginFailed`: by
    /// default neither logs out.
    ///
    /// - Parameters:
    ///   - credential: the credential from earlier. Default `nil`: the first refused request logs in.
    ///   - store: the persistent storage of the credential. Default `nil`: the credential is kept in memory.
    ///   - isExpiry: whether a failed request means that the login has expired. Default: an envelope that says so, or status
    ///     401.
    ///   - isRejection: whether a failed login means that the credentials are wrong. Default: an envelope failure, or a
    ///     status from 400 to 499 that is not transient.
    ///   - placement: the place of the credential in a request. Default: `Authorization: Bearer`.
    ///   - leeway: how long before its expiry a credential is renewed. Default 30 s.
    ///   - requiresLogin: whether the first request without a credential waits for a login. Default false.
    ///   - loginAttemptLimit: the maximum number of unsuccessful logins within `loginAttemptWindow`. Default five.
    ///   - loginAttemptWindow: the length of time in which logins count. Default 30 s.
    ///   - logsOutAfterSecondRefusal: whether the session logs out if the server refuses a request again after a new login.
    ///     Default false: only the request fails.
    ///   - clock: the clock for the login limit and expiry dates. Default: that of the session's first client.
    ///   - renewal: makes a new credential from the current one. Default `nil`: always `login`.
    ///   - login: gets a credential.
    public convenience init(
        credential: Credential? = nil,
        store: (any CredentialStore)? = nil,
        isExpiry: @escaping @Sendable (NetworkError) -> Bool = { $0.meansExpiredLogin() },
        isRejection: @escaping @Sendable (NetworkError) -> Bool = { $0.meansRejectedLogin },
        placement: CredentialPlacement = .bearer,
        leeway: Duration = .seconds(30),
        requiresLogin: Bool = false,
        loginAttemptLimit: Int = 5,
        loginAttemptWindow: Duration = .seconds(30),
        logsOutAfterSecondRefusal: Bool = false,
        clock: (any Scheduler)? = nil,
        renewal: (@Sendable (Credential) async throws -> Credential)? = nil,
        login: @escaping @Sendable () async throws -> Credential
    ) {
        // The parameters and defaults are those of the initializer for streams in `Session.swift`; change both.
        let renewing = renewal.map { renewal in
            { @Sendable (credential: Credential) in
                Self.awaiting("the renewal") { try await renewal(credential) }
            }
        }
        self.init(
            credential: credential, store: store, isExpiry: isExpiry, isRejection: isRejection,
            placement: placement, leeway: leeway, requiresLogin: requiresLogin,
            loginAttemptLimit: loginAttemptLimit, loginAttemptWindow: loginAttemptWindow,
            logsOutAfterSecondRefusal: logsOutAfterSecondRefusal, clock: clock, renewal: renewing,
            login: { Self.awaiting("the login", login) })
    }

    /// - Parameter name: the name of the work in errors.
    private static func awaiting(
        _ name: String, _ work: @escaping @Sendable () async throws -> Credential
    ) -> Observable<Credential, NetworkError> {
        Observable<Credential, any Error>.async(work).mapError { error in
            switch error {
            case let error as NetworkError: error
            case is CancellationError: NetworkError(.cancelled, "\(name) was cancelled")
            default: NetworkError(.loginFailed, "\(name) failed: \(error)")
            }
        }
    }
}

extension NetworkError {
    /// Whether the failure of a request means that its login has expired: the status 401, the envelope's
    /// ``Envelope/loginExpired``, or one of these codes in the envelope.
    ///
    /// - Parameter envelopeCodes: further codes in the envelope. Default: none.
    public func meansExpiredLogin(envelopeCodes: Set<String> = []) -> Bool {
        if status?.code == 401 { return true }
        guard let envelopeCode else { return false }
        return code == .loginExpired || envelopeCodes.contains(envelopeCode)
    }

    /// Whether a login that failed with this error will fail again with the same credentials.
    public var meansRejectedLogin: Bool {
        switch code {
        case .envelope, .loginExpired: true
        case .status: (400..<500).contains(status?.code ?? 0) && ![408, 425, 429].contains(status?.code ?? 0)
        default: false
        }
    }
}
