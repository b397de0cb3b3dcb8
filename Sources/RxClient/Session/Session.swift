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
    let login: @Sendable () -> Observable<Credential, NetworkError>
    let renewal: (@Sendable (Credential) -> Observable<Credential, NetworkError>)?
    let stored: StoredCredential?
    let expiry: SessionExpiry
    let isRejection: @Sendable (NetworkError) -> Bool
    let placement: CredentialPlacement
    let leeway: Duration
    let clock: any Scheduler
    let currentDate: @Sendable () -> Date
    /// Tells the accounts of this session from those of others, before this process and in it.
    private let seed = UInt64.random(in: 0 ... .max)

    struct Contents {
        var state: SessionState
        /// Whether what the store held has been taken in.
        var isRestored: Bool
        /// The login that runs: one for all who wait, with its outcome kept for those who come late.
        var run: Observable<Void, NetworkError> = .never()
        /// Where it runs, to tell its own requests from others.
        var loginLane: Lane?
        /// When the credential came, if this session saw it come.
        var obtained: Date?

        /// What requests carry at the moment, where there is nothing to wait for: neither the store nor a login.
        var ready: (Credential?, CredentialStamp)? { isRestored ? state.settled : nil }

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

    let contents: Mutex<Contents>
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
    ///     life. Default 30 s. When such a renewal fails and the credential is still good, it is used on.
    ///   - clock: keeps the time for the limit of five logins in 30 s. Default: a clock of the library's.
    ///   - currentDate: what expiry dates are measured against.
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
        clock: any Scheduler = ActorScheduler.shared,
        currentDate: @escaping @Sendable () -> Date = { Date() },
        renewal: (@Sendable (Credential) -> Observable<Credential, NetworkError>)? = nil,
        login: @escaping @Sendable () -> Observable<Credential, NetworkError>
    ) {
        self.login = login
        self.renewal = renewal
        self.expiry = expiry
        self.isRejection = isRejection
        self.placement = placement
        self.leeway = leeway
        self.clock = clock
        self.currentDate = currentDate
        stored = store.map { [signal] store in StoredCredential(in: store, events: signal) }
        contents = Mutex(
            Contents(state: SessionState(credential: credential), isRestored: store == nil))
    }

    /// The credential in use. With a store there is none before ``restore()``, or the first request, has ended.
    public var credential: Credential? { contents.withLock { $0.state.credential } }

    /// Whose requests go out now: the number counts the session's accounts, the name is no other account's. It outlives
    /// the process where the credential says whose it is.
    var account: (number: Int, name: String) {
        let (number, name) = contents.withLock { ($0.state.identity, $0.state.credential?.account) }
        return (number, name.map { "account " + $0 } ?? "session \(seed) \(number)")
    }

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
            contents.isRestored = true
            stored?.note(credential)
            return contents.endLogin()
        }
        accountChanged.send()
        stored?.write()
        withExtendedLifetime(ended) {}
    }
}
