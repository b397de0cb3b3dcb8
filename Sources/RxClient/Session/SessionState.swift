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
        case wait(Login)
    }

    /// A login to wait for. Who gets a new one starts it.
    struct Login {
        let number: Int
        let isNew: Bool
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
    /// The last login that failed without ending the session, and the generation it was meant to renew.
    private var failure: (generation: Int, error: NetworkError)?
    private var loginTimes: [Duration] = []
    private var loginCount = 0

    init(credential: Credential?) {
        self.credential = credential
    }

    /// An attempt is about to be sent. A credential that expires before `deadline` is renewed first.
    mutating func authorize(deadline: Date, now: Duration) -> Authorization {
        if case .renewing(let number) = phase { return .wait(Login(number: number, isNew: false)) }
        if case .idle = phase, let expires = credential?.expires, expires <= deadline,
            let login = startLogin(now: now)
        {
            return .wait(login)
        }
        return .send(credential, stamp)
    }

    /// The server did not accept the credential that `carried` stands for.
    mutating func authenticationFailed(
        carried: CredentialStamp, error: NetworkError, now: Duration
    ) -> Remedy {
        guard carried.identity == stamp.identity else {
            return .fail(.loginExpired("the account has changed meanwhile", because: error))
        }
        if let failure, failure.generation == carried.generation { return .fail(failure.error) }
        if carried.generation < stamp.generation { return .replay }
        switch phase {
        case .renewing(let number): return .wait(Login(number: number, isNew: false))
        case .loggedOut(let reason): return .fail(reason ?? .loginExpired("logged out", because: error))
        case .idle:
            guard let login = startLogin(now: now) else {
                return .fail(
                    .loginExpired(
                        "\(Self.loginLimit) logins within \(Self.loginWindow) did not help", because: error))
            }
            return .wait(login)
        }
    }

    private mutating func startLogin(now: Duration) -> Login? {
        loginTimes.removeAll { now - $0 >= Self.loginWindow }
        guard loginTimes.count < Self.loginLimit else { return nil }
        loginTimes.append(now)
        loginCount += 1
        phase = .renewing(login: loginCount)
        return Login(number: loginCount, isNew: true)
    }

    /// A login gave a credential. `false` if it is no longer wanted: the account has changed meanwhile.
    mutating func loginSucceeded(_ login: Int, _ credential: Credential) -> Bool {
        guard isRunning(login) else { return false }
        self.credential = credential
        stamp.generation += 1
        phase = .idle
        return true
    }

    /// A login failed. Rejected credentials end the session; anything else keeps it. `false` if the login
    /// is no longer wanted.
    mutating func loginFailed(_ login: Int, _ error: NetworkError, isRejection: Bool) -> Bool {
        guard isRunning(login) else { return false }
        failure = (stamp.generation, error)
        stamp.generation += 1
        phase = isRejection ? .loggedOut(error) : .idle
        if isRejection { credential = nil }
        return true
    }

    private func isRunning(_ login: Int) -> Bool {
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
}
