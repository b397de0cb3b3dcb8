public import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite
import Synchronization

/// Who is logged in, and how to log in again when the server has forgotten.
///
/// ```swift
/// let session = Session {
///     Client(baseURL: url).post("/login", .json(["user": user, "password": password]))
///         .decode(Login.self)
///         .map { Credential(token: $0.token) }
/// }
/// var configuration = ClientConfiguration()
/// configuration.session = session
/// let client = Client(baseURL: url, configuration: configuration)
/// ```
///
/// However many requests find out at the same time that the login has expired, the session logs in once;
/// each of them is then sent again, once. The login belongs to the session: it goes on when the request
/// that started it is cancelled. Requests that the login makes bypass the session, even through a client
/// that has it: they neither wait for themselves nor start another login. That holds for the stream that
/// the login closure returns; requests it subscribes to by itself, from a task for one, need an endpoint
/// whose ``Endpoint/usesSession`` is false.
///
/// A request belongs to the account that it was first sent, or kept waiting, as. When that account has gone
/// it fails with `loginExpired`; no attempt of it goes out as another.
///
/// A session can be shared by several clients. All of it is safe from any thread.
public final class Session: Sendable {
    private let login: @Sendable () -> Observable<Credential, NetworkError>
    private let expiry: SessionExpiry
    private let isRejection: @Sendable (NetworkError) -> Bool
    private let placement: CredentialPlacement
    private let leeway: Duration
    private let clock: any Scheduler
    private let currentDate: @Sendable () -> Date

    private struct Contents {
        var state: SessionState
        /// The login that runs: one for all who wait, with its outcome kept for those who come late.
        var run: Observable<Void, NetworkError> = .never()
        /// Where it runs, to tell its own requests from others.
        var loginLane: Lane?
        /// When the credential came, if this session saw it come.
        var obtained: Date?

        /// How long ahead the credential is renewed: `most`, but not more than half of its life.
        func leeway(atMost most: TimeInterval) -> TimeInterval {
            guard let obtained, let expires = state.credential?.expires else { return most }
            return min(most, expires.timeIntervalSince(obtained) / 2)
        }

        /// Forgets the login that has ended, and gives it away to be released outside the lock.
        mutating func endLogin() -> Observable<Void, NetworkError> {
            defer { (run, loginLane) = (.never(), nil) }
            return run
        }
    }

    private let contents: Mutex<Contents>
    private let signal = Signal<SessionEvent>()
    private let accountChanged = Signal<Void>()

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - credential: what is known from before. Without one, the first request the server refuses logs in.
    ///   - expiry: how an expired login shows. Default: status 401.
    ///   - isRejection: whether a failed login means that the credentials are wrong, and not that the
    ///     network is. Default: an envelope failure, or a status from 400 to 499 that is not transient.
    ///   - placement: where the credential goes. Default: `Authorization: Bearer`.
    ///   - leeway: how long before its expiry a credential is renewed: at most this, and at most half of its
    ///     life. Default 30 s. When such a renewal fails and the credential is still good, it is used on.
    ///   - clock: keeps the time for the limit of five logins in 30 s. Default: a clock of the library's.
    ///   - currentDate: what expiry dates are measured against.
    ///   - login: gets a credential. Its first value counts.
    public init(
        credential: Credential? = nil,
        expiry: SessionExpiry = .unauthorized(),
        isRejection: @escaping @Sendable (NetworkError) -> Bool = { $0.meansRejectedLogin },
        placement: CredentialPlacement = .bearer,
        leeway: Duration = .seconds(30),
        clock: any Scheduler = ActorScheduler.shared,
        currentDate: @escaping @Sendable () -> Date = { Date() },
        login: @escaping @Sendable () -> Observable<Credential, NetworkError>
    ) {
        self.login = login
        self.expiry = expiry
        self.isRejection = isRejection
        self.placement = placement
        self.leeway = leeway
        self.clock = clock
        self.currentDate = currentDate
        contents = Mutex(Contents(state: SessionState(credential: credential)))
    }

    /// The credential in use.
    public var credential: Credential? { contents.withLock { $0.state.credential } }

    /// What happens to the session, from the time of subscription on.
    public var events: Observable<SessionEvent, Never> { signal.observable }

    /// Makes `credential`'s account the one requests are sent as. Requests that wait for a login of the
    /// account before fail; they are never sent as this one.
    public func logIn(with credential: Credential) {
        change(to: credential)
        signal.send(.loggedIn)
    }

    /// Forgets the account. Requests that wait for a login fail, and nothing logs in again until
    /// ``logIn(with:)``.
    public func logOut() {
        change(to: nil)
        signal.send(.loggedOut(nil))
    }

    private func change(to credential: Credential?) {
        let date = currentDate()
        let ended = contents.withLock { contents in
            contents.state.change(to: credential)
            contents.obtained = date
            return contents.endLogin()
        }
        accountChanged.send()
        withExtendedLifetime(ended) {}
    }

    // MARK: - For requests

    /// `request` with the credential of the moment and its stamp; waits while a login runs. A request that
    /// has a stamp already belongs to that account.
    func authorize(_ request: Request) -> Observable<Request, NetworkError> {
        Observable { observer in
            guard !self.isLoggingIn(observer.scope.lane) else {
                return Observable.just(request).subscribe(observer)
            }
            self.authorize(request, renewsAhead: true).subscribe(observer)
        }
    }

    private func authorize(_ request: Request, renewsAhead: Bool) -> Observable<Request, NetworkError> {
        .deferred { () throws(NetworkError) in
            let date = self.currentDate()
            let now = self.clock.now
            let (authorization, login) = self.decide { contents in
                let leeway = contents.leeway(atMost: self.leeway / .seconds(1))
                let authorization = contents.state.authorize(
                    for: request.credentialStamp?.identity,
                    deadline: renewsAhead ? date + leeway : .distantPast,
                    date: date, now: now)
                guard case .wait(let login, _) = authorization else { return (authorization, nil) }
                return (authorization, login)
            }
            switch authorization {
            case .send(let credential, let stamp):
                var request = request
                request.credentialStamp = stamp
                if let credential { try self.placement.place(credential, &request) }
                return .just(request)
            case .wait(let awaited, let stamp):
                let outcome: Observable<Void, NetworkError> = login.catch { error in
                    awaited.isAhead && self.isCredentialGood(for: stamp) ? .just(()) : .fail(error)
                }
                return outcome.flatMap {
                    var request = request
                    request.credentialStamp = stamp
                    return self.authorize(request, renewsAhead: false)
                }
            case .refuse:
                throw .accountChanged(because: NetworkError(.loginExpired, "", request: request))
            }
        }
    }

    private func isCredentialGood(for stamp: CredentialStamp) -> Bool {
        let date = currentDate()
        return contents.withLock { contents in
            guard contents.state.isCurrent(stamp.identity), let credential = contents.state.credential else {
                return false
            }
            return credential.expires.map { $0 > date } ?? true
        }
    }

    func canRecover(from error: NetworkError) -> Bool {
        error.isReplayable && error.credentialStamp != nil && expiry.includes(error)
    }

    /// One value when the request that failed with `error` may be sent again, else the error to show.
    func recover(from error: NetworkError) -> Observable<Void, NetworkError> {
        .deferred { () throws(NetworkError) in
            guard let stamp = error.credentialStamp else { throw error }
            let now = self.clock.now
            let (remedy, login) = self.decide { contents in
                let remedy = contents.state.authenticationFailed(carried: stamp, error: error, now: now)
                guard case .wait(let login) = remedy else { return (remedy, nil) }
                return (remedy, login)
            }
            switch remedy {
            case .replay: return .just(())
            case .wait:
                return login.map { () throws(NetworkError) in
                    guard self.contents.withLock({ $0.state.isCurrent(stamp.identity) }) else {
                        throw .accountChanged(because: error)
                    }
                }
            case .fail(let error): throw error
            }
        }
    }

    // MARK: - Logging in

    private func isLoggingIn(_ lane: Lane) -> Bool {
        contents.withLock { $0.loginLane }.map(lane.feeds) == true
    }

    /// Asks the state what to do, and gives the login to wait for, if one is to be: one value when it has
    /// succeeded or is no longer wanted, its error when it has failed. A new one is started; giving up
    /// waiting leaves it alone.
    private func decide<Decision>(
        _ rule: (inout Contents) -> (Decision, SessionState.Login?)
    ) -> (Decision, login: Observable<Void, NetworkError>) {
        let (decision, isNew, login) = contents.withLock { contents in
            let (decision, login) = rule(&contents)
            let isNew = login?.isNew == true
            if let login, isNew { contents.run = self.run(login.number).share(replay: 1, reset: []) }
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
            let nothing = NetworkError(.noContent, "the login gave no credential")
            Observable.concat([self.login(), .fail(nothing)]).subscribe(observer)
        }
        let renewal = attempt.take(until: accountChanged.observable).take(1)
            .map { credential in self.store(credential, from: number) }
            .catch { error in
                self.noteFailure(error, of: number)
                return .fail(error)
            }
        return .concat([renewal, .just(())]).take(1)
    }

    private func store(_ credential: Credential, from number: Int) {
        let date = currentDate()
        let ended = contents.withLock { contents -> Observable<Void, NetworkError>? in
            guard contents.state.loginSucceeded(number, credential) else { return nil }
            contents.obtained = date
            return contents.endLogin()
        }
        if ended != nil { signal.send(.renewed) }
    }

    private func noteFailure(_ error: NetworkError, of number: Int) {
        let isRejection = isRejection(error)
        let ended = contents.withLock { contents -> Observable<Void, NetworkError>? in
            let isWanted = contents.state.loginFailed(number, error, isRejection: isRejection)
            return isWanted ? contents.endLogin() : nil
        }
        if ended != nil && isRejection { signal.send(.loggedOut(error)) }
    }
}

extension NetworkError {
    /// Whether a login that failed so will fail again with the same credentials.
    public var meansRejectedLogin: Bool {
        switch code {
        case .envelope, .loginExpired: true
        case .status: (400..<500).contains(status?.code ?? 0) && ![408, 425, 429].contains(status?.code ?? 0)
        default: false
        }
    }
}
