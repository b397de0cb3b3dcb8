import FoundationEssentials
import RxHTTP

/// The rules of single-flight relogin, as a pure state machine: events in, actions out.
struct SessionState {
    enum Phase {
        case idle
        /// A login runs; the number distinguishes it from earlier ones.
        case renewing(login: Int)
        /// The account has been logged out: only the user can log in again.
        case loggedOut(NetworkError?)
    }

    /// The action for an attempt that is about to be sent.
    enum Authorization {
        case send(Credential?, CredentialVersion)
        /// Wait for the login, and then ask again, as the account of that version.
        case wait(Login, CredentialVersion)
        /// The request belongs to an account that has been logged out; the error says why, if its login was
        /// refused.
        case refuse(NetworkError?)
        /// No further login is allowed, and the request must not go without one.
        case fail(NetworkError)
    }

    /// A login to wait for. The caller that receives a new one starts it.
    struct Login {
        let number: Int
        let isNew: Bool
        /// Whether the credential was still valid when the login began.
        let isAhead: Bool
    }

    /// The action for an attempt that the server did not authenticate.
    enum Recovery {
        case replay
        case wait(Login)
        case fail(NetworkError)
    }

    /// The effect of a login's credential.
    enum Arrival {
        /// The credential came too late: the account has changed in the meantime.
        case unwanted
        case renewed
        /// There was no account before, or another one.
        case loggedIn
    }

    /// The maximum number of logins within the window that did not help.
    private let limit: Int
    private let window: Duration
    private let leeway: TimeInterval
    private(set) var credential: Credential?
    private(set) var phase = Phase.idle
    /// The time from which the credential is renewed ahead of its expiry; `nil` for never.
    private(set) var renewalDate: Date?
    /// The version of the credential that a request would carry now. Neither number ever falls: versions are
    /// compared, here and in `OAuthDemands`.
    private(set) var credentialVersion = CredentialVersion(accountNumber: 0, generation: 0)
    /// The moment at which the account last changed.
    private var changed: UInt64 = 0
    /// The last login that failed, if none has succeeded since, and the generations that such logins were
    /// meant to renew.
    private var failure: (generations: ClosedRange<Int>, error: NetworkError)?
    /// The account whose login was refused last.
    private var rejection: (accountNumber: Int, error: NetworkError)?
    /// The start times of the logins that have not helped so far.
    private var loginDates: [Date] = []
    /// The number of the last login, which also identifies its refusal (`NetworkError.refusedLogin`).
    private var loginCount = 0
    /// Whether the credential was still valid when the last login began, for those that join it.
    private var isLoginAhead = false

    init(
        credential: Credential?, limit: Int = 5, window: Duration = .seconds(30),
        leeway: Duration = .seconds(30)
    ) {
        self.limit = limit
        self.window = window
        self.leeway = leeway / .seconds(1)
        hold(credential, obtained: nil)
    }

    /// The stored credential has been read, and nothing has happened in the meantime.
    mutating func restore(_ credential: Credential?) { hold(credential, obtained: nil) }

    /// - Parameter date: the time when the credential arrived, if this session received it.
    private mutating func hold(_ credential: Credential?, obtained date: Date?) {
        self.credential = credential
        renewalDate = credential?.expires.flatMap { expires in
            guard let date else { return expires - leeway }
            let life = expires.timeIntervalSince(date)
            // At most half of its lifetime ahead, as the documentation of `Session.init` says. If the credential was
            // expired on arrival, the server's clock differs: then the server says when to renew it.
            return life > 0 ? expires - min(leeway, life / 2) : nil
        }
    }

    /// Decides about an attempt that is about to be sent. A credential that expires soon is renewed first; if
    /// that has failed, a credential that is still valid stays in use. ``settled(at:mustLogIn:)`` is its short form;
    /// change both.
    ///
    /// - Parameters:
    ///   - accountNumber: the account of the request, if it is already fixed.
    ///   - mustLogIn: whether the request must not go without a credential if a login could get one.
    mutating func authorize(
        for accountNumber: Int? = nil, mustLogIn: Bool = false, renewsAhead: Bool = true, date: Date
    ) -> Authorization {
        let accountNumber = accountNumber ?? credentialVersion.accountNumber
        guard isCurrent(accountNumber) else { return .refuse(rejectionError(of: accountNumber)) }
        if case .renewing(let number) = phase { return .wait(running(number), credentialVersion) }
        if case .idle = phase {
            if credential == nil, mustLogIn {
                guard let login = startLogin(date, isAhead: false) else { return .fail(limitError(nil)) }
                return .wait(login, credentialVersion)
            }
            if renewsAhead, let renewalDate, renewalDate <= date, let expires = credential?.expires,
                failure == nil || expires <= date, let login = startLogin(date, isAhead: expires > date)
            {
                return .wait(login, credentialVersion)
            }
        }
        return .send(credential, credentialVersion)
    }

    /// The credential of an attempt at `date`, if there is nothing to wait for: a short form of
    /// ``authorize(for:mustLogIn:renewsAhead:date:)``, which decides otherwise. It must return `nil` wherever that one
    /// waits or fails; change both.
    func settled(at date: Date, mustLogIn: Bool) -> (Credential?, CredentialVersion)? {
        switch phase {
        case .renewing: return nil
        case .loggedOut: return (credential, credentialVersion)
        case .idle:
            guard renewalDate.map({ date < $0 }) ?? true, credential != nil || !mustLogIn else { return nil }
            return (credential, credentialVersion)
        }
    }

    /// The number of the account.
    var accountNumber: Int { credentialVersion.accountNumber }

    /// The number of the account at a moment of the past; a former one if it has changed since. Default: now.
    func accountNumber(at moment: UInt64?) -> Int {
        guard let moment, moment < changed else { return credentialVersion.accountNumber }
        return credentialVersion.accountNumber - 1
    }

    /// Whether `accountNumber` is still the current account.
    func isCurrent(_ accountNumber: Int) -> Bool { accountNumber == credentialVersion.accountNumber }

    /// The error for what belongs to an account that is gone.
    func departure(of accountNumber: Int, because cause: NetworkError) -> NetworkError {
        rejectionError(of: accountNumber).map { .loginRefused($0, because: cause) }
            ?? .accountChanged(because: cause)
    }

    private func rejectionError(of accountNumber: Int) -> NetworkError? {
        rejection.flatMap { $0.accountNumber == accountNumber ? $0.error : nil }
    }

    /// The server did not accept the credential with the version `carried`.
    mutating func authenticationFailed(
        carried: CredentialVersion, error: NetworkError, date: Date
    ) -> Recovery {
        guard isCurrent(carried.accountNumber) else {
            return .fail(departure(of: carried.accountNumber, because: error))
        }
        if case .loggedOut(let refusal) = phase {
            guard let refusal else {
                return .fail(.loginExpired("the session is logged out", because: error))
            }
            var own = NetworkError.loginRefused(refusal, because: error)
            // The request began after the refusal, so its failure is news.
            own.refusedLogin = nil
            return .fail(own)
        }
        if let failure, failure.generations.contains(carried.generation) { return .fail(failure.error) }
        if carried.generation < credentialVersion.generation { return .replay }
        switch phase {
        case .renewing(let number): return .wait(running(number))
        case .loggedOut, .idle:
            guard let login = startLogin(date, isAhead: false) else { return .fail(limitError(error)) }
            return .wait(login)
        }
    }

    private func limitError(_ cause: NetworkError?) -> NetworkError {
        .loginExpired(
            "\(limit) logins within \(window) did not restore access",
            because: cause ?? NetworkError(.loginExpired, ""))
    }

    private func running(_ login: Int) -> Login { Login(number: login, isNew: false, isAhead: isLoginAhead) }

    private mutating func startLogin(_ date: Date, isAhead: Bool) -> Login? {
        // Dates in the future are from before the clock was set back.
        loginDates.removeAll { !(0..<(window / .seconds(1))).contains(date.timeIntervalSince($0)) }
        guard loginDates.count < limit else { return nil }
        loginDates.append(date)
        loginCount += 1
        isLoginAhead = isAhead
        phase = .renewing(login: loginCount)
        return Login(number: loginCount, isNew: true, isAhead: isAhead)
    }

    /// Whether there are logins that are not known to have helped.
    var countsLogins: Bool { !loginDates.isEmpty }

    /// A request that carried `carried` has succeeded: if the last login provided that credential, it has
    /// helped.
    mutating func requestSucceeded(carried: CredentialVersion) {
        if carried == credentialVersion, failure == nil { loginDates = [] }
    }

    /// A login has provided a credential.
    mutating func loginSucceeded(_ login: Int, _ credential: Credential, date: Date) -> Arrival {
        guard isRunning(login) else { return .unwanted }
        return receive(credential, date: date)
    }

    /// A credential has arrived, from a login of this session or of another one.
    ///
    /// - Returns: ``Arrival/renewed`` or ``Arrival/loggedIn``.
    mutating func receive(_ credential: Credential, date: Date) -> Arrival {
        let former = self.credential
        let credential = credential.keepingAccount(of: former)
        let isOther = former.map { $0.account != nil && $0.account != credential.account } ?? false
        hold(credential, obtained: date)
        if isOther { beginAccount() }
        credentialVersion.generation += 1
        failure = nil
        phase = .idle
        return former == nil || isOther ? .loggedIn : .renewed
    }

    /// A login has failed. Rejected credentials end the session; other failures keep it. Returns `false` if
    /// the login is no longer wanted.
    mutating func loginFailed(_ login: Int, _ error: NetworkError, isRejection: Bool) -> Bool {
        guard isRunning(login) else { return false }
        let first = failure?.generations.lowerBound ?? credentialVersion.generation
        failure = (first...credentialVersion.generation, error)
        credentialVersion.generation += 1
        phase = .idle
        if isRejection {
            rejection = (credentialVersion.accountNumber, error)
            leave(for: nil, at: nil)
            phase = .loggedOut(error)
        }
        return true
    }

    /// The server has refused the credential of a new login; the account ends, and `error` is marked as the refusal.
    ///
    /// - Returns: `false` if the credential is no longer the current one.
    mutating func endAccount(refused carried: CredentialVersion, _ error: inout NetworkError) -> Bool {
        guard carried == credentialVersion, case .idle = phase else {
            // Another request has ended the account for the same reason.
            if let rejection, rejection.accountNumber == carried.accountNumber {
                error.refusedLogin = rejection.error.refusedLogin
            }
            return false
        }
        error.refusedLogin = loginCount
        rejection = (credentialVersion.accountNumber, error)
        leave(for: nil, at: nil)
        phase = .loggedOut(error)
        return true
    }

    /// Whether a login is running and still wanted.
    func isRunning(_ login: Int) -> Bool {
        if case .renewing(login) = phase { true } else { false }
    }

    /// The user has logged in, or out with `nil`. Work in progress now belongs to another account.
    mutating func change(to credential: Credential?, date: Date) {
        rejection = nil
        leave(for: credential, at: date)
        phase = credential == nil ? .loggedOut(nil) : .idle
    }

    private mutating func leave(for credential: Credential?, at date: Date?) {
        hold(credential, obtained: date)
        beginAccount()
        credentialVersion.generation += 1
        failure = nil
        loginDates = []
    }

    private mutating func beginAccount() {
        credentialVersion.accountNumber += 1
        changed = AccountMoment.next()
    }
}

extension NetworkError {
    /// The error `loginExpired`, with the details of the request from the error that revealed it.
    static func loginExpired(_ message: String, because cause: NetworkError) -> NetworkError {
        var error = cause
        error.code = .loginExpired
        error.message = message
        return error
    }

    /// The error for a request that cannot be sent because a login was refused, and that has not started that login.
    static func loginRefused(_ refusal: NetworkError, because cause: NetworkError) -> NetworkError {
        var error = loginExpired("the login was refused", because: cause)
        error.cause = refusal
        error.refusedLogin = refusal.refusedLogin
        return error
    }

    /// The error for a request of an account that has been logged out.
    static func accountChanged(because cause: NetworkError) -> NetworkError {
        .loginExpired("the account changed before the request was complete", because: cause)
    }
}
