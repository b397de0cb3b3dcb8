import FoundationEssentials
import RxHTTP
import Testing

@testable import RxClient

/// The rules of SEMANTICS "Relogin", on the state machine alone.
@Suite final class SessionStateTests {
    private var state = SessionState(credential: Credential(token: "old"))
    private let unauthorized = NetworkError(.status, "unauthorized")
    private let offline = NetworkError(.connect, "offline")
    private let rejected = NetworkError(.envelope, "wrong password")

    private func sentStamp(at now: Duration = .zero) throws -> CredentialStamp {
        guard case .send(_, let stamp) = state.authorize(deadline: .distantPast, now: now) else {
            throw Unexpected.decision
        }
        return stamp
    }

    private func fail(_ stamp: CredentialStamp, at now: Duration = .zero) -> SessionState.Remedy {
        state.authenticationFailed(carried: stamp, error: unauthorized, now: now)
    }

    private func startLogin(_ stamp: CredentialStamp, at now: Duration = .zero) throws -> Int {
        guard case .wait(let login) = fail(stamp, at: now), login.isNew else { throw Unexpected.decision }
        return login.number
    }

    private func succeed(_ login: Int, _ credential: Credential) -> Bool {
        state.loginSucceeded(login, credential)
    }

    private func failLogin(_ login: Int, _ error: NetworkError, isRejection: Bool) -> Bool {
        state.loginFailed(login, error, isRejection: isRejection)
    }

    private func authorize(_ deadline: Date) -> String {
        state.authorize(deadline: deadline, now: .zero).text
    }

    private enum Unexpected: Error { case decision }

    @Test("1. the stamp is older than the current generation → replay at once, no login")
    func rule1() throws {
        let stamp = try sentStamp()
        let login = try startLogin(stamp)
        #expect(succeed(login, Credential(token: "new")))
        #expect(fail(stamp).text == "replay")
        #expect(state.credential?.token == "new")
    }

    @Test("2. this generation's login has failed → the same error, no login")
    func rule2() throws {
        let stamp = try sentStamp()
        let login = try startLogin(stamp)
        #expect(failLogin(login, offline, isRejection: false))
        #expect(fail(stamp).text == "fail connect: offline")
        #expect(state.credential?.token == "old")
    }

    @Test("2. also for older generations whose logins failed one after another")
    func rule2Repeated() throws {
        let first = try sentStamp()
        #expect(try failLogin(startLogin(first), offline, isRejection: false))
        let second = try sentStamp()
        #expect(second != first)
        #expect(try failLogin(startLogin(second), offline, isRejection: false))
        #expect(fail(first).text == "fail connect: offline")
        #expect(fail(second).text == "fail connect: offline")
    }

    @Test("1 before 2: after a login that succeeded, a stamp from before the failed one is replayed")
    func failureIsForgottenWithSuccess() throws {
        let first = try sentStamp()
        #expect(try failLogin(startLogin(first), offline, isRejection: false))
        let second = try sentStamp()
        #expect(try succeed(startLogin(second), Credential(token: "new")))
        #expect(fail(first).text == "replay")
        #expect(fail(second).text == "replay")
    }

    @Test("3. a login is running → wait for it")
    func rule3() throws {
        let stamp = try sentStamp()
        let login = try startLogin(stamp)
        #expect(fail(stamp).text == "wait \(login)")
        guard case .wait(let waited, _) = state.authorize(deadline: .distantPast, now: .zero) else {
            throw Unexpected.decision
        }
        #expect(waited.number == login && !waited.isNew)
    }

    @Test("4. otherwise → start one; after a failure a later request may log in again")
    func rule4() throws {
        let first = try startLogin(sentStamp())
        #expect(failLogin(first, offline, isRejection: false))
        let second = try startLogin(sentStamp())
        #expect(second != first)
    }

    @Test("At most 5 logins in 30 s, then an error that says so; later again")
    func limit() throws {
        for second in 0..<5 {
            let login = try startLogin(sentStamp(), at: .seconds(second))
            #expect(succeed(login, Credential(token: "t\(second)")))
        }
        #expect(try fail(sentStamp(), at: .seconds(29)).text.hasPrefix("fail loginExpired: 5 logins within"))
        _ = try startLogin(sentStamp(), at: .seconds(30))
    }

    @Test("Rejected credentials: session cleared, nobody logs in, whatever the stamp")
    func rejection() throws {
        let first = try sentStamp()
        #expect(try succeed(startLogin(first), Credential(token: "new")))
        let second = try sentStamp()
        #expect(try failLogin(startLogin(second), rejected, isRejection: true))
        #expect(state.credential == nil)
        #expect(try fail(sentStamp()).text == "fail envelope: wrong password")
        #expect(fail(second).text == "fail envelope: wrong password")
        #expect(fail(first).text == "fail envelope: wrong password")
    }

    @Test(
        "Switching accounts or logging out: what was parked fails, a late token is not stored",
        arguments: [
            nil, Credential(token: "B"),
        ])
    func change(credential: Credential?) throws {
        let stamp = try sentStamp()
        let login = try startLogin(stamp)
        state.change(to: credential)
        #expect(!succeed(login, Credential(token: "late")))
        #expect(!failLogin(login, rejected, isRejection: true))
        #expect(state.credential == credential)
        #expect(fail(stamp).text.hasPrefix("fail loginExpired: the account has changed"))
        let decision = state.authorize(for: stamp.identity, deadline: .distantPast, now: .zero)
        guard case .refuse = decision else { throw Unexpected.decision }
    }

    @Test("Logged out: nothing logs in until the user does")
    func loggedOut() throws {
        state.change(to: nil)
        #expect(try fail(sentStamp()).text.hasPrefix("fail loginExpired: logged out"))
        state.change(to: Credential(token: "B"))
        _ = try startLogin(sentStamp())
    }

    @Test("A credential that knows its expiry is renewed ahead; one without is not")
    func expiry() throws {
        let soon = Date(timeIntervalSince1970: 1000)
        #expect(authorize(.distantFuture) == "send old")
        state.change(to: Credential(token: "A", expires: soon))
        #expect(authorize(soon - 1) == "send A")
        #expect(authorize(soon) == "wait 1")
        #expect(authorize(soon - 1) == "wait 1", "a login runs")
        #expect(failLogin(1, offline, isRejection: false))
        #expect(authorize(soon) == "wait 2")
    }

    @Test("Renewing ahead counts as a login; past the limit the old credential is sent")
    func expiryLimit() throws {
        state.change(to: Credential(token: "A", expires: .distantPast))
        for number in 1...5 {
            #expect(authorize(.distantFuture) == "wait \(number)")
            #expect(succeed(number, Credential(token: "A", expires: .distantPast)))
        }
        #expect(authorize(.distantFuture) == "send A")
    }
}

extension SessionState.Remedy {
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
        }
    }
}
