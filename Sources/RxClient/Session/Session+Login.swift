import HTTPTypes
import RxCookies
public import RxHTTP
import RxLite
import Synchronization

extension Session {
    func isLoggingIn(_ lane: Lane) -> Bool {
        contents.withLock { $0.loginLane }.map(lane.feeds) == true
    }

    /// Whether a login runs and a request may be part of it. Nothing that waits for the login may delay such
    /// a request.
    func mayServeLogin(_ lane: Lane, usesSession: Bool) -> Bool {
        contents.withLock { $0.loginLane }.map { !usesSession || lane.feeds($0) } == true
    }

    /// Asks the state what to do, and returns the login to wait for, if there is one: one value when it has
    /// succeeded or is no longer wanted, its error when it has failed. Starts a new login; cancelling the
    /// wait does not affect it.
    func decide<Decision>(
        _ rule: (inout Contents) -> (Decision, SessionState.Login?)
    ) -> (Decision, login: Observable<Void, NetworkError>) {
        let (decision, isNew, login) = contents.withLock { contents in
            let (decision, login) = rule(&contents)
            let isNew = login?.isNew == true
            if let login, isNew {
                contents.run = self.run(login.number).share(replay: 1, reset: [])
                self.countsLogins.store(true, ordering: .relaxed)
            }
            return (decision, isNew, contents.run)
        }
        if isNew { login.subscribe() }
        return (decision, login)
    }

    private func run(_ number: Int) -> Observable<Void, NetworkError> {
        let attempt = Observable<Credential, NetworkError> { observer in
            let isWanted = self.contents.withLock { contents in
                let isWanted = contents.state.isRunning(number)
                if isWanted { contents.loginLane = observer.scope.lane }
                return isWanted
            }
            guard isWanted else { return Observable<Credential, NetworkError>.empty().subscribe(observer) }
            let nothing = NetworkError(.noContent, "the login finished without a credential")
            Observable.concat([self.newCredential(), .fail(nothing)]).subscribe(observer)
        }
        let renewal = attempt.take(1)
            .flatMap(.concat) { credential in self.saved(credential, from: number) }
            .take(until: accountChanged.observable)
            .map { credential in self.adopt(credential, from: number) }
            .catch { error in
                self.noteFailure(error, of: number)
                return .fail(error)
            }
        return .concat([renewal, .just(())]).take(1)
    }

    private func newCredential() -> Observable<Credential, NetworkError> {
        guard let renewal, let credential else { return login() }
        return renewal(credential).catch { error -> Observable<Credential, NetworkError> in
            self.isRejection(error) ? self.login() : .fail(error)
        }
    }

    /// The credential, once it is in the store: if the process ends here, the store must not be left with a
    /// refresh token that has already been used.
    private func saved(
        _ credential: Credential, from number: Int
    ) -> Observable<Credential, NetworkError> {
        guard let stored else { return .just(credential) }
        let kept = contents.withLock { contents -> Credential? in
            guard contents.state.isRunning(number) else { return nil }
            // A renewal rarely names the account again, but the next process needs the name.
            var credential = credential
            credential.account = credential.account ?? contents.state.credential?.account
            stored.note(credential)
            return credential
        }
        guard let credential = kept else { return .empty() }
        return stored.flush().map { credential }.catch { _ in .just(credential) }
    }

    private func adopt(_ credential: Credential, from number: Int) {
        let date = clock.date
        let change = contents.withLock { contents -> Change? in
            let former = contents.state.credential
            switch contents.state.loginSucceeded(number, credential, date: date) {
            case .unwanted: return nil
            case .renewed: return Change(contents.endLogin(), .renewed)
            case .loggedIn:
                let jars = contents.turnJars(from: former, to: credential, seed)
                return Change(contents.endLogin(), .loggedIn, jars)
            }
        }
        change?.tell(signal)
    }

    private func noteFailure(_ error: NetworkError, of number: Int) {
        let isRejection = isRejection(error)
        let change = contents.withLock { contents -> Change? in
            let former = contents.state.credential
            guard contents.state.loginFailed(number, error, isRejection: isRejection) else { return nil }
            guard isRejection else { return Change(contents.endLogin(), nil) }
            stored?.note(nil)
            let jars = contents.turnJars(from: former, to: nil, seed)
            return Change(contents.endLogin(), .loggedOut(error), jars)
        }
        if change != nil && isRejection { stored?.write() }
        change?.tell(signal)
    }

    /// The work to do outside the lock after a login has ended.
    private struct Change {
        /// The login, for release.
        let ended: Observable<Void, NetworkError>
        let event: SessionEvent?
        let jars: [CookieJar]

        init(_ ended: Observable<Void, NetworkError>, _ event: SessionEvent?, _ jars: [CookieJar] = []) {
            self.ended = ended
            self.event = event
            self.jars = jars
        }

        func tell(_ signal: Signal<SessionEvent>) {
            for jar in jars { jar.finishTurn() }
            if let event { signal.send(event) }
        }
    }
}

extension NetworkError {
    /// Whether a login that failed with this error will fail again with the same credentials.
    public var meansRejectedLogin: Bool {
        switch code {
        case .envelope, .loginExpired: true
        case .status: (400..<500).contains(status?.code ?? 0) && ![408, 425, 429].contains(status?.code ?? 0)
        default: false
        }
    }
}
