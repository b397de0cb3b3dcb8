import HTTPTypes
import RxCookies
public import RxHTTP
public import RxLite
import Synchronization

/// The login of one account, shared by any number of requests, and the way to log in again when it has expired.
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
/// When the login has expired, the session logs in once, however many requests detect it at the same time; then each of
/// them is sent again, once. The login belongs to the session: it continues when the request that started it is
/// cancelled. Requests of the login itself bypass the session, even through a client that has it: they neither wait for
/// themselves nor start another login. This applies to the stream that the login closure returns, and to everything
/// that `async` and `create` in it await or subscribe to. Requests that the login starts elsewhere (a detached task, a
/// queue of callbacks) need an endpoint whose ``RequestOptions/usesSession`` is false.
///
/// A subscription belongs to the account that is logged in when it starts, wherever it waits: a call, an event source,
/// a WebSocket, a list. After that account has been logged out, nothing more is sent for it, and it fails with
/// `loginExpired`; a response that is already in flight still arrives. The cookie jars of the session's clients belong
/// to the account as well: they are emptied when it is logged out.
///
/// Several clients can share a session. Safe from any thread.
public final class Session: Sendable {
    // `SessionState` has the rules. `Session+Login` runs the login, or the renewal, and saves its credential;
    // `Session+Requests` gives requests their credential, and recovers from refusals; `Session+Store` follows other
    // sessions with the same store.

    let login: @Sendable () -> Observable<Credential, NetworkError>
    let renewal: (@Sendable (Credential) -> Observable<Credential, NetworkError>)?
    let stored: StoredCredential?
    private let subscriptions = SubscriptionBag()
    let isExpiry: @Sendable (NetworkError) -> Bool
    let isRejection: @Sendable (NetworkError) -> Bool
    let placement: CredentialPlacement
    let requiresLogin: Bool
    let logsOutAfterSecondRefusal: Bool
    let clock: SharedClock
    /// Distinguishes the accounts of this session from the accounts of other sessions, in this process and in
    /// earlier ones.
    let seed = RandomSource.number()

    struct Contents {
        /// Whoever ends a login or an account here calls ``endLogin()`` under the same lock, and for another account
        /// ``switchJars(from:to:_:)``. What these return is released, and announced, outside the lock.
        var state: SessionState
        /// Whether the stored credential has been loaded.
        var isRestored: Bool
        /// The login in progress: one for all waiting requests; it keeps its outcome for late subscribers.
        var runningLogin: Observable<Void, NetworkError> = .never()
        /// The version of the credential, if another session has got it and the server has not judged it yet.
        var adopted: CredentialVersion?
        /// The lane of the login, which identifies its own requests.
        var loginLane: Lane?
        /// The refused login that the user has been shown.
        var shownRefusal: Int?
        /// The cookie jars of the session's clients.
        var jars: [WeakCookieJar] = []

        /// Removes the login that has ended, and returns it for release outside the lock.
        mutating func endLogin() -> Observable<Void, NetworkError> {
            defer { (runningLogin, loginLane) = (.never(), nil) }
            return runningLogin
        }
    }

    let contents: Mutex<Contents>
    /// The transport of a login that uses that of the session's first client.
    let loginTransport = Mutex<SessionTransport?>(nil)
    /// Whether there are logins that have not helped so far. Written under the lock; read without it, so that
    /// other requests do not need to take it. May be true for too long, but never false too early.
    let countsLogins = Atomic<Bool>(false)
    let signal = Signal<Event>()
    /// Sends a value when the account may have changed.
    let accountChanged = Signal<Void>()

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - credential: the credential from earlier. Without one, the first request that the server refuses
    ///     logs in.
    ///   - store: the persistent storage of the credential, which several sessions may share. Its credential replaces
    ///     `credential` before the first request is sent. Default `nil`: the credential is kept in memory.
    ///   - isExpiry: whether a failed request means that the login has expired. Default: an envelope that says so, or status
    ///     401.
    ///   - isRejection: whether a failed login means that the credentials are wrong, as opposed to a network
    ///     failure. Default: an envelope failure, or a status from 400 to 499 that is not transient.
    ///   - placement: the place of the credential in a request. Default: `Authorization: Bearer`.
    ///   - leeway: how long before its expiry a credential is renewed: at most this long, and at most half of
    ///     its lifetime. Default 30 s. If the renewal fails and the credential is still valid, it stays in
    ///     use. A credential that was already expired on arrival, by the clock of this machine, is renewed
    ///     when the server refuses it.
    ///   - requiresLogin: whether the first request without a credential waits for a login. Default false: it
    ///     is sent without one, and the server's refusal starts the login. A request whose body can be sent
    ///     only once always waits, because it could not be sent again.
    ///   - loginAttemptLimit: the maximum number of unsuccessful logins within `loginAttemptWindow`; after that, requests
    ///     fail with `loginExpired`. A request that succeeds with a login's credential resets the count. Default five.
    ///   - loginAttemptWindow: the length of time in which logins count. Default 30 s.
    ///   - logsOutAfterSecondRefusal: whether the session logs out if the server does not accept the credential that a new
    ///     login has just got for a request either: it removes the credential, sends ``Session/Event/loggedOut(_:)``, and
    ///     does not log in until ``logIn(with:)``. Default false: only the request fails.
    ///   - clock: the clock for the login limit and expiry dates. Default: the virtual time of the session's
    ///     first client, if it has one, otherwise the system clock.
    ///   - renewal: makes a new credential from the current one, for example by its refresh token. A new credential
    ///     without a refresh token keeps the previous one. If the server refuses that (see `isRejection`), or there is
    ///     no credential, the session calls `login`. Default `nil`: always `login`.
    ///   - login: gets a credential. Its first value counts.
    public init(
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
        renewal: (@Sendable (Credential) -> Observable<Credential, NetworkError>)? = nil,
        login: @escaping @Sendable () -> Observable<Credential, NetworkError>
    ) {
        // The initializer for `async` in `Session+Login.swift` repeats the parameters and defaults; change both.
        self.login = login
        self.renewal = renewal
        self.isExpiry = isExpiry
        self.isRejection = isRejection
        self.placement = placement
        self.requiresLogin = requiresLogin
        self.logsOutAfterSecondRefusal = logsOutAfterSecondRefusal
        self.clock = SharedClock(clock)
        stored = store.map { [signal] store in StoredCredential(in: store, events: signal) }
        let state = SessionState(
            credential: credential, limit: loginAttemptLimit, window: loginAttemptWindow, leeway: leeway)
        contents = Mutex(Contents(state: state, isRestored: store == nil))
        stored?.changed.observable.subscribe { [weak self] in self?.followStore() }.store(in: subscriptions)
    }

    /// Creates a session for a credential that cannot be renewed, such as a fixed token or one that only the user can get.
    ///
    /// When the server refuses the credential, the request fails with `loginExpired`, and the session logs out until
    /// ``logIn(with:)``.
    ///
    /// - Parameters:
    ///   - credential: the credential. Default `nil`: none until ``logIn(with:)``.
    ///   - store: the persistent storage of the credential. Default `nil`: the credential is kept in memory.
    ///   - isExpiry: whether a failed request means that the credential is refused. Default: an envelope that says so, or
    ///     status 401.
    ///   - placement: the place of the credential in a request. Default: `Authorization: Bearer`.
    public convenience init(
        credential: Credential? = nil, store: (any CredentialStore)? = nil,
        isExpiry: @escaping @Sendable (NetworkError) -> Bool = { $0.meansExpiredLogin() },
        placement: CredentialPlacement = .bearer
    ) {
        self.init(credential: credential, store: store, isExpiry: isExpiry, placement: placement) {
            .fail(
                NetworkError(.loginExpired, "the server refused the credential, and the session has no login")
            )
        }
    }

    /// The current credential. With a store it is `nil` until ``restore()``, or the first request, has
    /// completed.
    public var credential: Credential? { contents.withLock { $0.state.credential } }

    /// The account of requests sent now: its number within the session, and a name that differs from the
    /// names of other accounts and of requests without a credential. The name outlives the process if the
    /// credential names its account.
    var account: (number: Int, name: String) {
        // The names are in the keys of stored responses, which a changed text would lose.
        let (number, credential) = contents.withLock { ($0.state.accountNumber, $0.state.credential) }
        guard let credential else { return (number, "session \(seed) \(number) logged out") }
        return (number, credential.account.map { "account " + $0 } ?? "session \(seed) \(number)")
    }

    /// The events of the session, from the time of subscription.
    public var events: Observable<Event, Never> { signal.observable }

    /// Makes the account of `credential` the current one. Requests that wait for a login of the previous
    /// account fail; they are never sent as this one. The cookies of the previous account are removed. If
    /// there was none, the cookies set in this process stay, such as the cookies of the login itself.
    public func logIn(with credential: Credential) {
        change(to: credential)
        signal.send(.loggedIn)
    }

    /// Logs out: removes the account, and its cookies from the jars of the session's clients. Requests that
    /// wait for a login fail, and there is no further login until ``logIn(with:)``.
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
            stored?.record(credential.map { .save($0) } ?? .erase(account: former?.account))
            return (contents.endLogin(), contents.switchJars(from: former, to: credential, seed))
        }
        // The order of `publish(_:)` and `take(_:insteadOf:)`, too: jars, the account's streams, the event.
        for jar in jars { jar.finishSwitch() }
        accountChanged.send()
        stored?.write()
        withExtendedLifetime(ended) {}
    }
}

extension Session {
    /// An event of a session.
    public enum Event: Sendable {
        /// An account has been logged in:
        ///
        /// - by ``Session/logIn(with:)``,
        /// - by the session's login, if there was no account before, or another one,
        /// - by another session that shares the store.
        case loggedIn
        /// The session's login has renewed the credential, or another session that shares the store has.
        case renewed
        /// The account has been logged out. `nil` if ``Session/logOut()`` was called, here or in another session that
        /// shares the store; otherwise the error says why:
        ///
        /// - the login was refused,
        /// - the server refused the credential of a new login, and the session logs out then,
        /// - the stored credential could not be read.
        case loggedOut(NetworkError?)
        /// The credential could not be saved; it stays in use, and is saved with the next change. Or the store could not
        /// be read again before a renewal.
        case storageFailed(NetworkError)
    }
}

extension Session {
    /// Loads the credential from the store; the first request does the same. One value, then completion.
    ///
    /// A store that cannot be read, or whose content is not a credential, counts as logged out; ``events``
    /// reports it. The next request goes without a credential, and the first one that the server refuses logs
    /// in. An account that was logged in, or out, before the load has completed stays.
    public func restore() -> Observable<Void, Never> {
        guard let stored, !isRestored else { return .just(()) }
        return stored.loaded.map { self.restore(from: $0) }
    }

    /// One value once every change so far is in the store, then completion; fails if a change cannot be
    /// written. Without a store, it completes at once.
    public func flush() -> Observable<Void, NetworkError> { stored?.flush() ?? .just(()) }

    var isRestored: Bool { contents.withLock { $0.isRestored } }

    private func restore(from outcome: Result<Credential?, NetworkError>) {
        let isFirst = contents.withLock { contents in
            guard !contents.isRestored else { return false }
            contents.isRestored = true
            switch outcome {
            case .success(let credential): contents.state.restore(credential ?? contents.state.credential)
            case .failure: contents.state.restore(nil)
            }
            return true
        }
        if isFirst, case .failure(let error) = outcome { signal.send(.loggedOut(error)) }
    }
}

extension Session: RedactedDescription {
    /// Whether there is a credential.
    public var description: String {
        credential == nil ? "session without credential" : "session with a credential"
    }
}

extension Session {
    /// The state of the login, for the inspector of streams and for ``SessionTransport/generation``.
    package struct InspectedState: Sendable, Equatable {
        /// In words, which the page shows; `cards.js` looks for `logged in`.
        package var text: String
        /// Counts the changes of the credential and the failed logins of the session, from 0. `OAuthDemands` compares
        /// it with the generations that requests carried.
        package var generation: Int
    }

    /// The current state of the login.
    package var inspectedState: InspectedState {
        contents.withLock { contents in
            let text =
                switch contents.state.phase {
                case .idle: contents.state.credential == nil ? "no credential" : "logged in"
                case .renewing: "logging in"
                case .loggedOut: "logged out"
                }
            return InspectedState(text: text, generation: contents.state.credentialVersion.generation)
        }
    }
}
