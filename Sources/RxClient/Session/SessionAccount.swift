import RxCookies
package import RxHTTP
import RxLite
import Synchronization

/// One account of a session. A subscription belongs to the account at its start: a call, an event source, a WebSocket with
/// what waits in its sink, a list.
struct SessionAccount: Sendable {
    let session: Session
    /// The number of the account within the session.
    let number: Int

    /// The account of a subscription that begins now, or that has waited in this lane to begin.
    init(of session: Session, in lane: Lane) {
        self.session = session
        let start = AccountMoment.start(of: lane)
        number = session.contents.withLock { $0.state.accountNumber(at: start) }
    }

    /// Whether it is still the account of the session.
    var isCurrent: Bool { session.contents.withLock { $0.state.isCurrent(number) } }

    /// The error for what belongs to the account, once it is gone.
    func departure(of request: Request? = nil) -> NetworkError {
        let own = NetworkError(.loginExpired, "", request: request)
        return session.contents.withLock { $0.state.departure(of: number, because: own) }
    }
}

extension Client {
    /// The account of a subscription that begins now.
    func account(in lane: Lane) -> SessionAccount? {
        configuration.session.map { SessionAccount(of: $0, in: lane) }
    }

    /// `account`, if the requests of `endpoint` carry its credential: then a stream of them ends with the account.
    func account(_ account: SessionAccount?, of endpoint: some Endpoint) -> SessionAccount? {
        account != nil && PreparedRequest.mayCarryCredential(endpoint, of: self) ? account : nil
    }
}

extension Observable where Failure == NetworkError {
    /// The stream until `account` is gone; then it fails with `loginExpired`.
    func ending(with account: SessionAccount?) -> Observable {
        guard let account else { return self }
        // The account may have changed before this observes it.
        let changes = Observable<Void, Never>.merge(account.session.accountChanged.observable, .just(()))
        return take(
            until: changes.setFailureType(to: NetworkError.self).compactMap {
                () throws(NetworkError) -> Void? in
                guard !account.isCurrent else { return nil }
                throw account.departure()
            })
    }
}

extension Observable {
    /// The stream, started now for a subscriber that has waited since `start`: its first calls belong to the account of
    /// that time.
    func started(since start: UInt64) -> Observable {
        Observable(scheduler: scheduler) { observer in
            AccountMoment.resume(since: start, in: observer.scope.lane) { self.subscribe(observer) }
        }
    }
}

/// Orders the changes of all sessions' accounts and the starts of subscriptions that wait before they run.
enum AccountMoment {
    private static let count = Atomic<UInt64>(0)
    private static let starts = Mutex<[ObjectIdentifier: UInt64]>([:])
    /// Read without the lock, so that other subscriptions do not need to take it.
    private static let hasStarts = Atomic<Int>(0)

    /// The present.
    static var now: UInt64 { count.load(ordering: .acquiring) }

    /// The moment of a subscription that begins to wait in `lane`.
    static func beginning(in lane: Lane) -> UInt64 { start(of: lane) ?? now }

    /// The moment of a change.
    static func next() -> UInt64 { count.add(1, ordering: .acquiringAndReleasing).newValue }

    /// Runs `subscribe`, in which calls in `lane` begin that have waited since `start`. Only from inside the lane.
    static func resume(since start: UInt64, in lane: Lane, _ subscribe: () -> Void) {
        let id = ObjectIdentifier(lane)
        hasStarts.add(1, ordering: .relaxed)
        let outer = starts.withLock { starts in
            let outer = starts[id]
            starts[id] = outer ?? start
            return outer
        }
        subscribe()
        starts.withLock { $0[id] = outer }
        hasStarts.subtract(1, ordering: .relaxed)
    }

    /// The moment at which a subscription that begins now in `lane` was made; `nil` if it has not waited.
    static func start(of lane: Lane) -> UInt64? {
        guard hasStarts.load(ordering: .relaxed) > 0 else { return nil }
        return starts.withLock { $0[ObjectIdentifier(lane)] }
    }
}

// MARK: - The transport of a login

/// The transport of a login that sends requests itself: a given one, or that of the first client of its session.
package final class SessionTransport: Sendable {
    private struct Contents {
        var transport: (any Transport)?
        weak var session: Session?
    }

    private let contents = Mutex(Contents())

    package init() {}

    package var transport: (any Transport)? { contents.withLock { $0.transport } }

    /// The generation of the session's current credential; `nil` for a login without a session.
    package var generation: Int? {
        // The session is released after the lock.
        let session = contents.withLock { $0.session }
        return session?.inspectedState.generation
    }

    package func setIfUnset(_ transport: any Transport) {
        contents.withLock { $0.transport = $0.transport ?? transport }
    }

    fileprivate func join(_ session: Session) { contents.withLock { $0.session = session } }
}

extension Session {
    /// Lets a login use the transport of this session's first client, which ``attach(_:to:)`` will set: only before a
    /// client has the session.
    package func take(_ transport: SessionTransport) {
        transport.join(self)
        loginTransport.withLock { $0 = transport }
    }
}

// MARK: - Cookies

/// A jar that is kept alive by its clients, not by the session.
struct WeakCookieJar {
    weak let jar: CookieJar?
}

extension Session {
    /// Registers a client that uses the session: its clock, and the jar with the account's cookies.
    func attach(_ jar: CookieJar?, to transport: any Transport) {
        clock.setIfUnset(transport.scheduler)
        loginTransport.withLock { $0 }?.setIfUnset(transport)
        guard let jar else { return }
        contents.withLock { contents in
            contents.jars.removeAll { $0.jar == nil || $0.jar === jar }
            contents.jars.append(WeakCookieJar(jar: jar))
            jar.attach(CookieJar.Account(contents.state.accountNumber, of: seed))
        }
    }
}

extension Session.Contents {
    /// Switches the jars to another account, in the same step as the session, so that no request is sent as
    /// one account with the cookies of another. The caller must then notify the jars outside the lock, with
    /// ``CookieJar/finishSwitch()``.
    func switchJars(from former: Credential?, to credential: Credential?, _ seed: UInt64) -> [CookieJar] {
        let jars = jars.compactMap(\.jar)
        let isSame = former?.account != nil && former?.account == credential?.account
        let kept: CookieJar.Kept =
            if isSame {
                .all
            } else if former == nil && credential != nil {
                .new
            } else {
                .none
            }
        let account = CookieJar.Account(state.accountNumber, of: seed)
        for jar in jars { jar.switchAccount(to: account, keeping: kept) }
        return jars
    }
}
