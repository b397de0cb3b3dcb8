import FoundationEssentials
public import RxHTTP
public import RxLite
import Synchronization

// What a session does for requests: the credential of each attempt, and the recovery when the server refuses it.

extension Session {
    /// `request` with the current credential and its version; waits while a login runs or the store is
    /// read. A request that already has a version belongs to that account. A request that must not carry a
    /// credential (``Request/isCredentialFree``) stays unchanged.
    ///
    /// A stage for chains composed by hand: subscribe to it for each attempt, so that each attempt gets the current
    /// credential. The stamp tells ``Observable/relogin(through:)`` further down whether the credential is outdated.
    public func authorize(_ request: Request) -> Observable<Request, NetworkError> {
        Observable { observer in
            let account = SessionAccount(of: self, in: observer.scope.lane)
            self.authorize(request, for: account.number).subscribe(observer)
        }
    }

    /// `request` with the current credential and its version stamp, on behalf of the account with this number.
    func authorize(_ request: Request, for account: Int) -> Observable<Request, NetworkError> {
        Observable { observer in
            guard !request.isCredentialFree, !self.isLoggingIn(observer.scope.lane) else {
                return Observable.just(request).subscribe(observer)
            }
            guard !self.isRestored else {
                return self.authorize(request, for: account, renewsAhead: true).subscribe(observer)
            }
            self.restore().flatMap { self.authorize(request, for: account, renewsAhead: true) }
                .subscribe(observer)
        }
    }

    /// The result of ``authorize(_:for:)``, if there is nothing to wait for; `nil` if ``authorize(_:for:)`` has to
    /// decide.
    func authorized(_ request: Request, for account: Int) throws(NetworkError) -> Request? {
        if request.isCredentialFree { return request }
        let (date, mustLogIn) = (clock.date, mustLogIn(for: request))
        let ready = contents.withLock { contents in
            contents.isRestored ? contents.state.settled(at: date, mustLogIn: mustLogIn) : nil
        }
        guard let (credential, credentialVersion) = ready,
            (request.credentialVersion?.accountNumber ?? account) == credentialVersion.accountNumber
        else { return nil }
        return try authorized(request, by: credential, credentialVersion)
    }

    /// Whether a login must come before the request, instead of after the server's refusal.
    private func mustLogIn(for request: Request) -> Bool { requiresLogin || !request.body.isReplayable }

    private func authorized(
        _ request: Request, by credential: Credential?, _ credentialVersion: CredentialVersion
    ) throws(NetworkError) -> Request {
        var request = request
        request.credentialVersion = credentialVersion
        if let credential { try placement.place(credential, &request) }
        return request
    }

    private func authorize(
        _ request: Request, for account: Int, renewsAhead: Bool
    ) -> Observable<Request, NetworkError> {
        .deferred { () throws(NetworkError) in
            let date = self.clock.date
            let (authorization, login) = self.decide { contents in
                let authorization = contents.state.authorize(
                    for: request.credentialVersion?.accountNumber ?? account,
                    mustLogIn: self.mustLogIn(for: request),
                    renewsAhead: renewsAhead, date: date)
                guard case .wait(let login, _) = authorization else { return (authorization, nil) }
                return (authorization, login)
            }
            switch authorization {
            case .send(let credential, let credentialVersion):
                return .just(try self.authorized(request, by: credential, credentialVersion))
            case .wait(let awaited, let credentialVersion):
                let outcome: Observable<Void, NetworkError> = login.catch { error in
                    guard !awaited.isAhead || !self.isCredentialGood(for: credentialVersion) else {
                        return .just(())
                    }
                    return .fail(
                        self.failure(
                            of: awaited, error, for: NetworkError(.loginExpired, "", request: request)))
                }
                return outcome.flatMap {
                    var request = request
                    request.credentialVersion = credentialVersion
                    return self.authorize(request, for: account, renewsAhead: false)
                }
            case .refuse(let refusal):
                let own = NetworkError(.loginExpired, "", request: request)
                throw refusal.map { .loginRefused($0, because: own) } ?? .accountChanged(because: own)
            case .fail(let error): throw error.attributed(to: request)
            }
        }
    }

    /// The failure of a request whose login failed while it waited. The request that started the login fails with its
    /// error; if the login was refused, the others fail with `loginExpired`, so that the refusal is reported once.
    ///
    /// - Parameter own: the reason why the request had to wait.
    private func failure(
        of login: SessionState.Login, _ error: NetworkError, for own: NetworkError
    ) -> NetworkError {
        guard error.refusedLogin == login.number else { return error }
        guard login.isNew else { return .loginRefused(error, because: own) }
        guard error.requestID == nil else { return error }
        // The login sent no request, so the failure is that of the one that started it.
        var failure = NetworkError.loginExpired(error.message, because: own)
        failure.code = error.code
        failure.envelopeCode = error.envelopeCode
        failure.serverMessage = error.serverMessage
        failure.refusedLogin = error.refusedLogin
        return failure
    }

    /// Whether the user has not been shown this failure: of the requests that fail because of one refused login, the
    /// first is shown. Counts it as shown.
    func isNews(_ error: NetworkError) -> Bool {
        guard let login = error.refusedLogin else { return true }
        return contents.withLock { contents in
            defer { contents.shownRefusal = login }
            return contents.shownRefusal != login
        }
    }

    private func isCredentialGood(for credentialVersion: CredentialVersion) -> Bool {
        let date = clock.date
        return contents.withLock { contents in
            guard contents.state.isCurrent(credentialVersion.accountNumber),
                let credential = contents.state.credential
            else {
                return false
            }
            return credential.expires.map { $0 > date } ?? true
        }
    }

    /// Records that the server has accepted the current credential.
    func recordSuccess() {
        guard countsLogins.load(ordering: .relaxed) else { return }
        recordSuccess(of: contents.withLock { $0.state.credentialVersion })
    }

    /// Records that the server has accepted the credential of a request.
    func recordSuccess(of credentialVersion: CredentialVersion?) {
        guard let credentialVersion, countsLogins.load(ordering: .relaxed) else { return }
        contents.withLock { contents in
            contents.state.requestSucceeded(carried: credentialVersion)
            self.countsLogins.store(contents.state.countsLogins, ordering: .relaxed)
        }
    }

    /// Whether the credential of `credentialVersion` comes from another session, so that a refusal of it is not yet
    /// this session's second.
    func isAdopted(_ credentialVersion: CredentialVersion) -> Bool {
        contents.withLock { $0.adopted == credentialVersion }
    }

    /// Whether a login may help the request that failed with `error`. Without the version of its credential, which
    /// ``CallContext/attributed(_:)`` adds, it may not. `isExpiry` may be called several times for one failure.
    func canRecover(from error: NetworkError) -> Bool {
        error.isReplayable && error.credentialVersion != nil && isExpiry(error)
    }

    /// One value when the request that failed with `error` may be sent again: the version of the credential
    /// that it will carry. Otherwise the error to report.
    func recover(from error: NetworkError) -> Observable<CredentialVersion, NetworkError> {
        .deferred { () throws(NetworkError) in
            guard let credentialVersion = error.credentialVersion else { throw error }
            let date = self.clock.date
            let (recovery, login) = self.decide { contents in
                let recovery = contents.state.authenticationFailed(
                    carried: credentialVersion, error: error, date: date)
                guard case .wait(let login) = recovery else { return (recovery, nil) }
                return (recovery, login)
            }
            switch recovery {
            case .replay: return .just(self.contents.withLock { $0.state.credentialVersion })
            case .wait(let awaited):
                return login.mapError { self.failure(of: awaited, $0, for: error) }.map {
                    () throws(NetworkError) in
                    let current = self.contents.withLock { $0.state.credentialVersion }
                    guard current.accountNumber == credentialVersion.accountNumber else {
                        throw .accountChanged(because: error)
                    }
                    return current
                }
            case .fail(let error): throw error
            }
        }
    }
}

// MARK: - Relogin

extension Session {
    /// The version of the credential with which the request that failed with `error` is sent again; fails with the error
    /// to report if it is not.
    ///
    /// - Parameter replay: the replay shared by all attempts of the request.
    func recovery(
        after error: NetworkError, _ replay: Replay, trace: Trace? = nil
    ) -> Observable<CredentialVersion, NetworkError> {
        guard canRecover(from: error), !replay.isUsed else {
            return .fail(replay.isReplay ? handleSecondRefusal(error) : error)
        }
        trace?.emit(.relogin(because: error))
        return recover(from: error).map { credentialVersion throws(NetworkError) in
            // The server may refuse the credential of another session, too; only then is this one renewed.
            guard self.isAdopted(credentialVersion) || replay.begin() else { throw error }
            return credentialVersion
        }
    }
}

extension Observable where Failure == NetworkError {
    /// Lets `session` log in again when the server reports an expired login, once for all affected requests, and sends
    /// the request again. A refusal after that login is final; it may end the session. If another session with the same
    /// store has logged in meanwhile, the request is sent with its credential first, and after a refusal of that one
    /// `session` logs in.
    public func relogin(through session: Session) -> Observable {
        // The stage `Relogin` does the same for clients; change both.
        Observable(scheduler: scheduler) { observer in
            self.handleEvents(onNext: { _ in session.recordSuccess() })
                .replayed(through: session, Replay()).subscribe(observer)
        }
    }

    private func replayed(through session: Session, _ replay: Replay) -> Observable {
        self.catch { error in
            session.recovery(after: error, replay).flatMap(.concat) { credentialVersion in
                self.handleEvents(onNext: { _ in session.recordSuccess(of: credentialVersion) })
                    .replayed(through: session, replay)
            }
        }
    }
}

/// The single replay of a request after a login. Those with credentials of other sessions do not count
/// (``Session/isAdopted(_:)``).
final class Replay: Sendable {
    private let used = Atomic<Bool>(false)
    private let begun = Atomic<Bool>(false)

    var isUsed: Bool { used.load(ordering: .relaxed) }
    /// Whether the request has been sent again after a new login.
    var isReplay: Bool { begun.load(ordering: .relaxed) }

    /// Rules the replay out; returns `true` the first time.
    func use() -> Bool { !used.exchange(true, ordering: .relaxed) }

    /// Begins the replay; returns `false` if there is none.
    func begin() -> Bool {
        guard use() else { return false }
        begun.store(true, ordering: .relaxed)
        return true
    }
}
