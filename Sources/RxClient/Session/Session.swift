import HTTPTypes
import RxCookies
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
/// the login closure returns, and for what `async` and `create` in it await or subscribe to. Requests that it has made by
/// others (a detached task, a queue of callbacks) need an endpoint whose ``RequestOptions/usesSession`` is false.
///
/// A request belongs to the account that it was first sent, or kept waiting, as. When that account has gone
/// it fails with `loginExpired`; no attempt of it goes out as another. The cookie jars of the session's clients belong to
/// the account as well: they are emptied when it goes.
///
/// A session can be shared by several clients. All of it is safe from any thread.
public final class Session: Sendable {
    let login: @Sendable () -> Observable<Credential, NetworkError>
    let renewal: (@Sendable (Credential) -> Observable<Credential, NetworkError>)?
    let stored: StoredCredential?
    let expiry: SessionExpiry
    let isRejection: @Sendable (NetworkError) -> Bool
    let placement: CredentialPlacement
    let logsInFirst: Bool
    let clock: SharedClock
    /// Tells the accounts of this session from those of others, before this process and in it.
    let seed = UInt64.random(in: 0 ... .max)

    struct Contents {
        var state: SessionState
        /// Whether what the store held has been taken in.
        var isRestored: Bool
        /// The login that runs: one for all who wait, with its outcome kept for those who come late.
        var run: Observable<Void, NetworkError> = .never()
        /// Where it runs, to tell its own requests from others.
        var loginLane: Lane?
        /// The jars of the session's clients.
        var jars: [WeakCookieJar] = []

        /// Forgets the login that has ended, and gives it away to be released outside the lock.
        mutating func endLogin() -> Observable<Void, NetworkError> {
            defer { (run, loginLane) = (.never(), nil) }
            return run
        }
    }

    let contents: Mutex<Contents>
    /// Whether there are logins that have not helped so far. Written under the lock; read without, so that other requests
    /// need not take it.
    let countsLogins = Atomic<Bool>(false)
    let signal = Signal<SessionEvent>()
    let accountChanged = Signal<Void>()

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - credential: what is known from before. Without one, the first request the server refuses logs in.
    ///   - store: where the credential outlives the process. What it holds is taken in, over `credential`, before the
    ///     first request goes out. Default: nowhere.
    ///   - expiry: how an expired login shows. Default: status 401.
    ///   - isRejection: whether a failed login means that the credentials are wrong, and not that the
    ///     network is. Default: an envelope failure, or a status from 400 to 499 that is not transient.
    ///   - placement: where the credential goes. Default: `Authorization: Bearer`.
    ///   - leeway: how long before its expiry a credential is renewed: at most this, and at most half of its
    ///     life. Default 30 s. When such a renewal fails and the credential is still good, it is used on. One that was
    ///     over when it came, by the clock of this machine, is renewed when the server refuses it.
    ///   - logsInFirst: whether the first request without a credential waits for a login. Default no: it goes without, and
    ///     the server's refusal logs in. A request whose body can be sent only once waits in any case, since it could not be
    ///     sent again.
    ///   - loginLimit: how many logins are tried that do not help. Default five in 30 s.
    ///   - clock: keeps the time that logins are counted and expiry dates measured by. Default: the virtual time of the
    ///     session's first client, if it has such, otherwise the system's.
    ///   - renewal: makes a new credential of the one in use, by its refresh token for one. Where that is refused
    ///     (see `isRejection`), or there is no credential, `login` is asked. Default: `login` alone.
    ///   - login: gets a credential. Its first value counts.
    public init(
        credential: Credential? = nil,
        store: (any CredentialStore)? = nil,
        expiry: SessionExpiry = .unauthorized(),
        isRejection: @escaping @Sendable (NetworkError) -> Bool = { $0.meansRejectedLogin },
        placement: CredentialPlacement = .bearer,
        leeway: Duration = .seconds(30),
        logsInFirst: Bool = false,
        loginLimit: LoginLimit = LoginLimit(),
        clock: (any Scheduler)? = nil,
        renewal: (@Sendable (Credential) -> Observable<Credential, NetworkError>)? = nil,
        login: @escaping @Sendable () -> Observable<Credential, NetworkError>
    ) {
        self.login = login
        self.renewal = renewal
        self.expiry = expiry
        self.isRejection = isRejection
        self.placement = placement
        self.logsInFirst = logsInFirst
        self.clock = SharedClock(clock)
        stored = store.map { [signal] store in StoredCredential(in: store, events: signal) }
        let state = SessionState(credential: credential, limit: loginLimit, leeway: leeway)
        contents = Mutex(Contents(state: state, isRestored: store == nil))
    }

    /// The credential in use. With a store there is none before ``restore()``, or the first request, has ended.
    public var credential: Credential? { contents.withLock { $0.state.credential } }

    /// Whose requests go out now: the number counts the session's accounts, the name is no other account's, nor that of
    /// requests without a credential. It outlives the process where the credential says whose it is.
    var account: (number: Int, name: String) {
        let (number, credential) = contents.withLock { ($0.state.identity, $0.state.credential) }
        guard let credential else { return (number, "session \(seed) \(number) logged out") }
        return (number, credential.account.map { "account " + $0 } ?? "session \(seed) \(number)")
    }

    /// What happens to the session, from the time of subscription on.
    public var events: Observable<SessionEvent, Never> { signal.observable }

    /// Makes `credential`'s account the one requests are sent as. Requests that wait for a login of the
    /// account before fail; they are never sent as this one. The cookies of that account go; where there was none, those that
    /// have been set in this process stay, such as what the login itself set.
    public func logIn(with credential: Credential) {
        change(to: credential)
        signal.send(.loggedIn)
    }

    /// Forgets the account, and its cookies in the jars of the session's clients. Requests that wait for a login fail, and
    /// nothing logs in again until ``logIn(with:)``.
    public func logOut() {
        change(to: nil)
        signal.send(.loggedOut(nil))
    }

    private func change(to credential: Credential?) {
        let date = clock.date
        let (ended, jars) = contents.withLock { contents in
            let former = contents.state.credential
            contents.state.change(to: credential, date: date)
            contents.isRestored = true
            countsLogins.store(false, ordering: .relaxed)
            stored?.note(credential)
            return (contents.endLogin(), contents.turnJars(from: former, to: credential, seed))
        }
        for jar in jars { jar.finishTurn() }
        accountChanged.send()
        stored?.write()
        withExtendedLifetime(ended) {}
    }
}
