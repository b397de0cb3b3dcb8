import FoundationEssentials
import RxHTTP
import Testing

@testable import RxClient

/// The rules of Docs/Semantics.md, "Relogin", on the state machine alone.
@Suite final class SessionStateTests {
    private var state = SessionState(credential: Credential(token: "old"))
    private let start = Date(timeIntervalSince1970: 1000)
    private let unauthorized = NetworkError(.status, "unauthorized")
    private let offline = NetworkError(.connect, "offline")
    private let known = Credential(token: "t")
    private let rejected = NetworkError(.envelope, "wrong password")

    private func sentVersion() throws -> CredentialVersion {
        guard case .send(_, let credentialVersion) = state.authorize(date: start) else {
            throw Unexpected.decision
        }
        return credentialVersion
    }

    private func fail(_ credentialVersion: CredentialVersion, at second: Double = 0) -> SessionState.Recovery
    {
        state.authenticationFailed(carried: credentialVersion, error: unauthorized, date: start + second)
    }

    private func startLogin(_ credentialVersion: CredentialVersion, at second: Double = 0) throws -> Int {
        guard case .wait(let login) = fail(credentialVersion, at: second), login.isNew else {
            throw Unexpected.decision
        }
        return login.number
    }

    private func succeed(_ login: Int, _ credential: Credential, at second: Double = 0) -> Bool {
        if case .unwanted = state.loginSucceeded(login, credential, date: start + second) {
            false
        } else {
            true
        }
    }

    private func change(to credential: Credential?) { state.change(to: credential, date: start) }

    private func failLogin(_ login: Int, _ error: NetworkError, isRejection: Bool) -> Bool {
        state.loginFailed(login, error, isRejection: isRejection)
    }

    private func authorize(at second: Double = 0, mustLogIn: Bool = false) -> String {
        state.authorize(mustLogIn: mustLogIn, date: start + second).text
    }

    private enum Unexpected: Error { case decision }

    /// 1. the version is older than the current generation → replay at once, no login.
    @Test func rule1() throws {
        let credentialVersion = try sentVersion()
        let login = try startLogin(credentialVersion)
        #expect(succeed(login, Credential(token: "new")))
        #expect(fail(credentialVersion).text == "replay")
        #expect(state.credential?.token == "new")
    }

    /// 2. this generation's login has failed → the same error, no login.
    @Test func rule2() throws {
        let credentialVersion = try sentVersion()
        let login = try startLogin(credentialVersion)
        #expect(failLogin(login, offline, isRejection: false))
        #expect(fail(credentialVersion).text == "fail connect: offline")
        #expect(state.credential?.token == "old")
    }

    /// 2. also for older generations whose logins failed one after another.
    @Test func rule2Repeated() throws {
        let first = try sentVersion()
        #expect(try failLogin(startLogin(first), offline, isRejection: false))
        let second = try sentVersion()
        #expect(second != first)
        #expect(try failLogin(startLogin(second), offline, isRejection: false))
        #expect(fail(first).text == "fail connect: offline")
        #expect(fail(second).text == "fail connect: offline")
    }

    /// 1 before 2: after a successful login, a version from before the failed one is replayed.
    @Test func failureIsForgottenWithSuccess() throws {
        let first = try sentVersion()
        #expect(try failLogin(startLogin(first), offline, isRejection: false))
        let second = try sentVersion()
        #expect(try succeed(startLogin(second), Credential(token: "new")))
        #expect(fail(first).text == "replay")
        #expect(fail(second).text == "replay")
    }

    /// 3. a login is running → wait for it.
    @Test func rule3() throws {
        let credentialVersion = try sentVersion()
        let login = try startLogin(credentialVersion)
        #expect(fail(credentialVersion).text == "wait \(login)")
        guard case .wait(let waited, _) = state.authorize(date: start) else {
            throw Unexpected.decision
        }
        #expect(waited.number == login && !waited.isNew)
    }

    /// 4. otherwise → start one; after a failure a later request may log in again.
    @Test func rule4() throws {
        let first = try startLogin(sentVersion())
        #expect(failLogin(first, offline, isRejection: false))
        let second = try startLogin(sentVersion())
        #expect(second != first)
    }

    /// At most 5 logins in 30 s without success, then an error that names the limit; later again.
    @Test func limit() throws {
        for second in 0..<5 {
            let login = try startLogin(sentVersion(), at: Double(second))
            #expect(succeed(login, Credential(token: "t\(second)")))
        }
        #expect(try fail(sentVersion(), at: 29).text.hasPrefix("fail loginExpired: 5 logins within"))
        _ = try startLogin(sentVersion(), at: 30)
    }

    /// A clock that is set back ignores logins in its future.
    @Test func clockPutBack() throws {
        for second in 0..<5 { #expect(try succeed(startLogin(sentVersion(), at: Double(second)), known)) }
        _ = try startLogin(sentVersion(), at: -3600)
    }

    /// A request that succeeds with a login's credential resets the count, with an older one not.
    @Test func helpfulLogins() throws {
        let old = try sentVersion()
        for second in 0..<20 {
            #expect(try succeed(startLogin(sentVersion(), at: Double(second)), known))
            state.requestSucceeded(carried: old)
            #expect(state.countsLogins)
            state.requestSucceeded(carried: try sentVersion())
            #expect(!state.countsLogins)
        }
    }

    /// A failed login does not count as a success, even if requests succeed without it.
    @Test func failedLoginsCount() throws {
        for second in 0..<5 {
            #expect(try failLogin(startLogin(sentVersion(), at: Double(second)), offline, isRejection: false))
            state.requestSucceeded(carried: try sentVersion())
        }
        #expect(try fail(sentVersion(), at: 6).text.hasPrefix("fail loginExpired: 5 logins within"))
    }

    /// The app can set the limit.
    @Test func chosenLimit() throws {
        state = SessionState(credential: known, limit: 2, window: .seconds(10))
        for second in 0..<2 { #expect(try succeed(startLogin(sentVersion(), at: Double(second)), known)) }
        #expect(
            try fail(sentVersion(), at: 9).text
                == "fail loginExpired: 2 logins within 10.0 seconds did not restore access")
        _ = try startLogin(sentVersion(), at: 10)
    }

    /// Rejected credentials: session cleared, no login, for any version.
    @Test func rejection() throws {
        let first = try sentVersion()
        #expect(try succeed(startLogin(first), Credential(token: "new")))
        let second = try sentVersion()
        #expect(try failLogin(startLogin(second), rejected, isRejection: true))
        #expect(state.credential == nil)
        for credentialVersion in [try sentVersion(), second, first] {
            guard case .fail(let error) = fail(credentialVersion) else { throw Unexpected.decision }
            #expect(error.code == .loginExpired && error.cause?.message == "wrong password")
        }
    }

    /// Switching accounts or logging out: waiting requests fail, a late token is not stored.
    @Test(arguments: [
        nil, Credential(token: "B"),
    ])
    func change(credential: Credential?) throws {
        let credentialVersion = try sentVersion()
        let login = try startLogin(credentialVersion)
        change(to: credential)
        #expect(!succeed(login, Credential(token: "late")))
        #expect(!failLogin(login, rejected, isRejection: true))
        #expect(state.credential == credential)
        #expect(fail(credentialVersion).text.hasPrefix("fail loginExpired: the account changed"))
        let decision = state.authorize(for: credentialVersion.accountNumber, date: start)
        guard case .refuse = decision else { throw Unexpected.decision }
    }

    /// Logged out: only the user can log in again.
    @Test func loggedOut() throws {
        change(to: nil)
        #expect(try fail(sentVersion()).text.hasPrefix("fail loginExpired: the session is logged out"))
        change(to: Credential(token: "B"))
        _ = try startLogin(sentVersion())
    }

    /// A refused login ends the account: its requests get that error, and none is sent without credential.
    @Test func rejectionEndsTheAccount() throws {
        let credentialVersion = try sentVersion()
        #expect(try failLogin(startLogin(credentialVersion), rejected, isRejection: true))
        #expect(!state.isCurrent(credentialVersion.accountNumber))
        #expect(fail(credentialVersion).text == "fail loginExpired: the login was refused")
        guard case .refuse(let error) = state.authorize(for: credentialVersion.accountNumber, date: start)
        else {
            throw Unexpected.decision
        }
        #expect(error?.message == "wrong password")
    }

    /// The account of a moment before the last change is not the current one.
    @Test func accountOfAMoment() {
        let start = AccountMoment.now
        #expect(state.isCurrent(state.accountNumber(at: start)))
        change(to: Credential(token: "B"))
        #expect(!state.isCurrent(state.accountNumber(at: start)))
        #expect(state.isCurrent(state.accountNumber(at: AccountMoment.now)))
    }

    /// A login that returns another account is a change of accounts.
    @Test func otherAccount() throws {
        state = SessionState(credential: Credential(token: "a", account: "anna"))
        let credentialVersion = try sentVersion()
        #expect(try succeed(startLogin(credentialVersion), Credential(token: "a2", account: "anna")))
        #expect(state.isCurrent(credentialVersion.accountNumber))
        #expect(try succeed(startLogin(sentVersion()), Credential(token: "b", account: "bert")))
        #expect(!state.isCurrent(credentialVersion.accountNumber))
        #expect(fail(credentialVersion).text.hasPrefix("fail loginExpired: the account changed"))
    }

    /// A login that names no account is one of the same account.
    @Test func unnamedAccount() throws {
        state = SessionState(credential: Credential(token: "a", account: "anna"))
        let credentialVersion = try sentVersion()
        #expect(try succeed(startLogin(credentialVersion), Credential(token: "a2")))
        #expect(state.credential == Credential(token: "a2", account: "anna"))
        #expect(state.isCurrent(credentialVersion.accountNumber))
    }

    /// A credential with an expiry date is renewed ahead; one without is not.
    @Test func expiry() throws {
        #expect(authorize(at: 1e9) == "send old")
        state = SessionState(credential: Credential(token: "A", expires: start + 100))
        #expect(authorize(at: 69) == "send A")
        #expect(authorize(at: 70) == "wait 1")
        #expect(authorize(at: 69) == "wait 1", "a login runs")
        #expect(failLogin(1, offline, isRejection: false))
        #expect(authorize(at: 70) == "send A", "it is still good")
        #expect(authorize(at: 100) == "wait 2")
    }

    /// A new credential is renewed in the last half of its lifetime at the earliest.
    @Test func halfOfItsLife() {
        change(to: Credential(token: "A", expires: start + 20))
        #expect(authorize(at: 9) == "send A")
        #expect(authorize(at: 10) == "wait 1")
    }

    /// A credential that has expired on arrival is used until the server refuses it.
    @Test(arguments: [0.0, -1, -3600])
    func overOnArrival(life: Double) throws {
        change(to: Credential(token: "A", expires: start + life))
        #expect(authorize(at: 1000) == "send A")
        #expect(try succeed(startLogin(sentVersion()), Credential(token: "B", expires: start + life)))
        #expect(authorize(at: 1000) == "send B")
    }

    /// Renewing ahead counts as a login; past the limit the old credential is sent.
    @Test func expiryLimit() throws {
        state = SessionState(credential: Credential(token: "A", expires: start))
        for number in 1...5 {
            #expect(authorize() == "wait \(number)")
            #expect(failLogin(number, offline, isRejection: false))
        }
        #expect(authorize() == "send A")
    }

    /// A request that must log in first waits for a login, and fails if the limit is reached.
    @Test func loginFirst() throws {
        state = SessionState(credential: nil)
        #expect(authorize() == "send nothing")
        for number in 1...5 {
            #expect(authorize(mustLogIn: true) == "wait \(number)")
            #expect(failLogin(number, offline, isRejection: false))
        }
        #expect(authorize(mustLogIn: true).hasPrefix("fail loginExpired: 5 logins within"))
        change(to: nil)
        #expect(authorize(mustLogIn: true) == "send nothing", "logged out by the user")
    }
}

extension SessionState.Recovery {
    fileprivate var text: String {
        switch self {
        case .replay: "replay"
        case .wait(let login): "wait \(login.number)"
        case .fail(let error): "fail \(error.code.rawValue): \(error.message)"
        }
    }
}

extension SessionState.Authorization {
    fileprivate var text: String {
        switch self {
        case .send(let credential, _): "send \(credential?.token ?? "nothing")"
        case .wait(let login, _): "wait \(login.number)"
        case .refuse: "refuse"
        case .fail(let error): "fail \(error.code.rawValue): \(error.message)"
        }
    }
}
