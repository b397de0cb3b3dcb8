import FoundationEssentials
import RxHTTP

/// The rules of single-flight relogin, as a pure state machine: events in, what is to be done out.
struct SessionState {
    enum Phase {
        case idle
        /// A login runs; the number tells it from earlier ones.
        case renewing(login: Int)
        /// There was an account and there is none: nothing logs in but the user.
        case loggedOut(NetworkError?)
    }

    /// What an attempt that is about to be sent shall do.
    enum Authorization {
        case send(Credential?, CredentialStamp)
        /// For the login, and then ask again, as the account that the stamp names.
        case wait(Login, CredentialStamp)
        /// The request belongs to an account that is no longer there.
        case refuse
    }

    /// A login to wait for. Who gets a new one starts it.
    struct Login {
        let number: Int
        let isNew: Bool
        /// Whether the credential was still good when the login began.
        let isAhead: Bool
    }

    /// What an attempt that the server did not authenticate shall do.
    enum Remedy {
        case replay
        case wait(Login)
        case fail(NetworkError)
    }

    /// At most this many logins within ``loginWindow``.
    static let loginLimit = 5
    static let loginWindow = Duration.seconds(30)

    private(set) var credential: Credential?
    private(set) var phase = Phase.idle
    private var stamp = CredentialStamp(identity: 0, generation: 0)
    /// The last login that failed, if none has succeeded since, and the generations such logins were meant
    /// to renew.
    private var failure: (generations: ClosedRange<Int>, error: NetworkError)?
    private var loginTimes: [Duration] = []
    private var loginCount = 0
    private var isLoginAhead = false

    init(credential: Credential?) {
        self.credential = credential
    }

    /// What is known from before has been read, and nothing has happened meanwhile.
    mutating func restore(_ credential: Credential?) { self.credential = credential }

    /// An attempt is about to be sent. A credential that expires before `deadline` is renewed first; if that
    /// has failed, one that is good at `date` is used up as it is.
    ///
    /// - Parameter identity: whose request it is, where that is settled.
    mutating func authorize(
        for identity: Int? = nil, deadline: Date, date: Date = .distantFuture, now: Duration
    ) -> Authorization {
        guard isCurrent(identity ?? stamp.identity) else { return .refuse }
        if case .renewing(let number) = phase { return .wait(running(number), stamp) }
        if case .idle = phase, let expires = credential?.expires, expires <= deadline,
            failure == nil || expires <= date, let login = startLogin(now: now, isAhead: expires > date)
        {
            return .wait(login, stamp)
        }
        return .send(credential, stamp)
    }

    /// What an attempt would carry, while no login runs.
    var settled: (Credential?, CredentialStamp)? {
        if case .renewing = phase { nil } else { (credential, stamp) }
    }

    /// Counts the accounts.
    var identity: Int { stamp.identity }

    /// Whether the account is still the one that `identity` counts.
    func isCurrent(_ identity: Int) -> Bool { identity == stamp.identity }

    /// The server did not accept the credential that `carried` stands for.
    mutating func authenticationFailed(
        carried: CredentialStamp, error: NetworkError, now: Duration
    ) -> Remedy {
        guard isCurrent(carried.identity) else { return .fail(.accountChanged(because: error)) }
        if case .loggedOut(let reason) = phase {
            return .fail(reason ?? .loginExpired("logged out", because: error))
        }
        if let failure, failure.generations.contains(carried.generation) { return .fail(failure.error) }
        if carried.generation < stamp.generation { return .replay }
        switch phase {
        case .renewing(let number): return .wait(running(number))
        case .loggedOut, .idle:
            guard let login = startLogin(now: now, isAhead: false) else {
                return .fail(
                    .loginExpired(
                        "\(Self.loginLimit) logins within \(Self.loginWindow) did not help", because: error))
            }
            return .wait(login)
        }
    }

    private func running(_ login: Int) -> Login { Login(number: login, isNew: false, isAhead: isLoginAhead) }

    private mutating func startLogin(now: Duration, isAhead: Bool) -> Login? {
        loginTimes.removeAll { now - $0 >= Self.loginWindow }
        guard loginTimes.count < Self.loginLimit else { return nil }
        loginTimes.append(now)
        loginCount += 1
        isLoginAhead = isAhead
        phase = .renewing(login: loginCount)
        return Login(number: loginCount, isNew: true, isAhead: isAhead)
    }

    /// A login gave a credential. `false` if it is no longer wanted: the account has changed meanwhile.
    mutating func loginSucceeded(_ login: Int, _ credential: Credential) -> Bool {
        guard isRunning(login) else { return false }
        let account = credential.account ?? self.credential?.account
        self.credential = credential
        self.credential?.account = account
        stamp.generation += 1
        failure = nil
        phase = .idle
        return true
    }

    /// A login failed. Rejected credentials end the session; anything else keeps it. `false` if the login
    /// is no longer wanted.
    mutating func loginFailed(_ login: Int, _ error: NetworkError, isRejection: Bool) -> Bool {
        guard isRunning(login) else { return false }
        let first = failure?.generations.lowerBound ?? stamp.generation
        failure = (first...stamp.generation, error)
        stamp.generation += 1
        phase = isRejection ? .loggedOut(error) : .idle
        if isRejection { credential = nil }
        return true
    }

    /// Whether a login is under way and still wanted.
    func isRunning(_ login: Int) -> Bool {
        if case .renewing(login) = phase { true } else { false }
    }

    /// The user has logged in, or out with `nil`. Whatever was under way belongs to somebody else now.
    mutating func change(to credential: Credential?) {
        self.credential = credential
        stamp.identity += 1
        stamp.generation += 1
        failure = nil
        phase = credential == nil ? .loggedOut(nil) : .idle
    }
}

extension NetworkError {
    /// `loginExpired`, with what is known of the request from the error that revealed it.
    static func loginExpired(_ message: String, because cause: NetworkError) -> NetworkError {
        var error = cause
        error.code = .loginExpired
        error.message = message
        return error
    }

    /// What becomes of a request of an account that is no longer there.
    static func accountChanged(because cause: NetworkError) -> NetworkError {
        .loginExpired("the account has changed meanwhile", because: cause)
    }
}
