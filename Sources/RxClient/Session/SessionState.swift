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
        case send(Credential?, CredentialVersion)
        /// For the login, and then ask again, as the account that the stamp names.
        case wait(Login, CredentialVersion)
        /// The request belongs to an account that is no longer there; the error says why, if its login was refused.
        case refuse(NetworkError?)
        /// No login may be tried any more, and the request must not go without one.
        case fail(NetworkError)
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

    /// What a login's credential has changed.
    enum Arrival {
        /// The credential came too late: the account has changed meanwhile.
        case unwanted
        case renewed
        /// There was no account before, or another one.
        case loggedIn
    }

    private let limit: LoginLimit
    private let leeway: TimeInterval
    private(set) var credential: Credential?
    private(set) var phase = Phase.idle
    /// From when on the credential is renewed ahead of its expiry; `nil` for never.
    private(set) var renewal: Date?
    /// What a request would carry now.
    private(set) var stamp = CredentialVersion(identity: 0, generation: 0)
    /// The last login that failed, if none has succeeded since, and the generations such logins were meant
    /// to renew.
    private var failure: (generations: ClosedRange<Int>, error: NetworkError)?
    /// The account whose login was refused last.
    private var rejection: (identity: Int, error: NetworkError)?
    /// When the logins began that have not helped so far.
    private var loginDates: [Date] = []
    private var loginCount = 0
    private var isLoginAhead = false

    init(credential: Credential?, limit: LoginLimit = LoginLimit(), leeway: Duration = .seconds(30)) {
        self.limit = limit
        self.leeway = leeway / .seconds(1)
        hold(credential, obtained: nil)
    }

    /// What is known from before has been read, and nothing has happened meanwhile.
    mutating func restore(_ credential: Credential?) { hold(credential, obtained: nil) }

    /// - Parameter date: when the credential came, if this session saw it come.
    private mutating func hold(_ credential: Credential?, obtained date: Date?) {
        self.credential = credential
        renewal = credential?.expires.flatMap { expires in
            guard let date else { return expires - leeway }
            let life = expires.timeIntervalSince(date)
            // Over before it came: the server's clock is another one. The server says when to renew it.
            return life > 0 ? expires - min(leeway, life / 2) : nil
        }
    }

    /// An attempt is about to be sent. A credential that is soon to expire is renewed first; if that
    /// has failed, one that is still good is used up as it is.
    ///
    /// - Parameters:
    ///   - identity: whose request it is, where that is settled.
    ///   - mustLogIn: whether it must not go without a credential where a login could get one.
    mutating func authorize(
        for identity: Int? = nil, mustLogIn: Bool = false, renewsAhead: Bool = true, date: Date
    ) -> Authorization {
        let identity = identity ?? stamp.identity
        guard isCurrent(identity) else { return .refuse(rejectionError(of: identity)) }
        if case .renewing(let number) = phase { return .wait(running(number), stamp) }
        if case .idle = phase {
            if credential == nil, mustLogIn {
                guard let login = startLogin(date, isAhead: false) else { return .fail(limitError(nil)) }
                return .wait(login, stamp)
            }
            if renewsAhead, let renewal, renewal <= date, let expires = credential?.expires,
                failure == nil || expires <= date, let login = startLogin(date, isAhead: expires > date)
            {
                return .wait(login, stamp)
            }
        }
        return .send(credential, stamp)
    }

    /// What an attempt would carry at `date`, where nothing has to be waited for.
    func settled(at date: Date, mustLogIn: Bool) -> (Credential?, CredentialVersion)? {
        switch phase {
        case .renewing: return nil
        case .loggedOut: return (credential, stamp)
        case .idle:
            guard renewal.map({ date < $0 }) ?? true, credential != nil || !mustLogIn else { return nil }
            return (credential, stamp)
        }
    }

    /// Counts the accounts.
    var identity: Int { stamp.identity }

    /// Whether the account is still the one that `identity` counts.
    func isCurrent(_ identity: Int) -> Bool { identity == stamp.identity }

    private func rejectionError(of identity: Int) -> NetworkError? {
        rejection.flatMap { $0.identity == identity ? $0.error : nil }
    }

    /// The server did not accept the credential that `carried` stands for.
    mutating func authenticationFailed(
        carried: CredentialVersion, error: NetworkError, date: Date
    ) -> Remedy {
        guard isCurrent(carried.identity) else {
            return .fail(rejectionError(of: carried.identity) ?? .accountChanged(because: error))
        }
        if case .loggedOut(let reason) = phase {
            return .fail(reason ?? .loginExpired("logged out", because: error))
        }
        if let failure, failure.generations.contains(carried.generation) { return .fail(failure.error) }
        if carried.generation < stamp.generation { return .replay }
        switch phase {
        case .renewing(let number): return .wait(running(number))
        case .loggedOut, .idle:
            guard let login = startLogin(date, isAhead: false) else { return .fail(limitError(error)) }
            return .wait(login)
        }
    }

    private func limitError(_ cause: NetworkError?) -> NetworkError {
        .loginExpired(
            "\(limit.count) logins within \(limit.window) did not help",
            because: cause ?? NetworkError(.loginExpired, ""))
    }

    private func running(_ login: Int) -> Login { Login(number: login, isNew: false, isAhead: isLoginAhead) }

    private mutating func startLogin(_ date: Date, isAhead: Bool) -> Login? {
        // What lies ahead is from before the clock was put back.
        loginDates.removeAll { !(0..<(limit.window / .seconds(1))).contains(date.timeIntervalSince($0)) }
        guard loginDates.count < limit.count else { return nil }
        loginDates.append(date)
        loginCount += 1
        isLoginAhead = isAhead
        phase = .renewing(login: loginCount)
        return Login(number: loginCount, isNew: true, isAhead: isAhead)
    }

    /// Whether there are logins of which nobody knows that they have helped.
    var countsLogins: Bool { !loginDates.isEmpty }

    /// A request that carried `carried` has succeeded: if that is what the last login gave, it has helped.
    mutating func requestSucceeded(carried: CredentialVersion) {
        if carried == stamp, failure == nil { loginDates = [] }
    }

    /// A login gave a credential.
    mutating func loginSucceeded(_ login: Int, _ credential: Credential, date: Date) -> Arrival {
        guard isRunning(login) else { return .unwanted }
        let former = self.credential
        var credential = credential
        credential.account = credential.account ?? former?.account
        let isOther = former.map { $0.account != nil && $0.account != credential.account } ?? false
        hold(credential, obtained: date)
        if isOther { stamp.identity += 1 }
        stamp.generation += 1
        failure = nil
        phase = .idle
        return former == nil || isOther ? .loggedIn : .renewed
    }

    /// A login failed. Rejected credentials end the session; anything else keeps it. `false` if the login
    /// is no longer wanted.
    mutating func loginFailed(_ login: Int, _ error: NetworkError, isRejection: Bool) -> Bool {
        guard isRunning(login) else { return false }
        let first = failure?.generations.lowerBound ?? stamp.generation
        failure = (first...stamp.generation, error)
        stamp.generation += 1
        phase = .idle
        if isRejection {
            rejection = (stamp.identity, error)
            leave(for: nil, at: nil)
            phase = .loggedOut(error)
        }
        return true
    }

    /// Whether a login is under way and still wanted.
    func isRunning(_ login: Int) -> Bool {
        if case .renewing(login) = phase { true } else { false }
    }

    /// The user has logged in, or out with `nil`. Whatever was under way belongs to somebody else now.
    mutating func change(to credential: Credential?, date: Date) {
        rejection = nil
        leave(for: credential, at: date)
        phase = credential == nil ? .loggedOut(nil) : .idle
    }

    private mutating func leave(for credential: Credential?, at date: Date?) {
        hold(credential, obtained: date)
        stamp.identity += 1
        stamp.generation += 1
        failure = nil
        loginDates = []
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
