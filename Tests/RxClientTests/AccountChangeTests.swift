import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// Switching accounts, or logging out, while requests of the previous account are under way.
@Suite struct AccountChangeTests {
    private let fixture = LoginFixture()
    private let accountB = Credential(token: "B")

    private func change(to credential: Credential?) {
        if let credential { fixture.session.logIn(with: credential) } else { fixture.session.logOut() }
    }

    /// Requests waiting for the previous account fail at once and are never replayed as the new one.
    @Test(arguments: [
        nil, Credential(token: "B"),
    ])
    func parked(credential: Credential?) throws {
        let parked = (0..<3).map { fixture.get("/\($0)") }
        try fixture.clock.advance(by: .milliseconds(5))
        let waiting = fixture.get("/waiting")
        change(to: credential)
        #expect((parked + [waiting]).allSatisfy { $0.failure?.code == .loginExpired })
        #expect(parked[0].failure?.url?.path == "/0")
        #expect(parked.allSatisfy { $0.failure?.requestID != nil })
        try fixture.clock.run()
        #expect((parked + [waiting]).allSatisfy { $0.events.count == 1 })
        #expect(fixture.lines == ["GET /0 old", "GET /1 old", "GET /2 old", "POST /login -"])
        #expect(fixture.session.credential == credential)
        #expect(
            fixture.transport.cancelled.map(\.request.url.path) == ["/login"], "the old login is called off")
        #expect(fixture.eventTexts == [credential == nil ? "logged out by hand" : "logged in"])
    }

    /// A request under way that is refused after the change fails.
    @Test(arguments: [
        nil, Credential(token: "B"),
    ])
    func onItsWay(credential: Credential?) throws {
        let recorder = fixture.get("/1")
        change(to: credential)
        try fixture.clock.run()
        #expect(recorder.failure?.code == .loginExpired)
        #expect(fixture.lines == ["GET /1 old"])
    }

    /// A change made by a handler of the renewal event comes before the replays.
    @Test func insideTheEvent() throws {
        fixture.session.events.subscribe(onNext: { [session = fixture.session, accountB] event in
            if case .renewed = event { session.logIn(with: accountB) }
        })
        let recorders = (0..<3).map { fixture.get("/\($0)") }
        try fixture.clock.advance(by: .milliseconds(5))
        let waiting = fixture.get("/waiting")
        try fixture.clock.run()
        #expect((recorders + [waiting]).allSatisfy { $0.failure?.code == .loginExpired })
        #expect(!fixture.lines.contains { $0.hasSuffix(" B") || $0.hasSuffix("t1") })
        #expect(fixture.session.credential == accountB)
    }

    /// A request waiting for its retry is not retried as another account.
    @Test(arguments: [
        nil, Credential(token: "B"),
    ])
    func duringBackoff(credential: Credential?) throws {
        let fixture = LoginFixture(
            credential: Credential(token: "t0"),
            retry: .exponentialBackoff(backoff: .constant(.seconds(1))))
        fixture.server.contents.withLock { $0.answers["/1"] = [.status(.serviceUnavailable)] }
        let recorder = Recorder(fixture.client.put("/1", .json(["a": 1])), on: fixture.clock)
        try fixture.clock.advance(by: .milliseconds(500))
        if let credential { fixture.session.logIn(with: credential) } else { fixture.session.logOut() }
        try fixture.clock.run()
        #expect(recorder.failure?.code == .loginExpired)
        #expect(recorder.failure?.attempt == 2)
        #expect(fixture.lines == ["PUT /1 t0"])
    }

    /// Logged out: requests carry no credential, and only the user can log in again.
    @Test func loggedOut() throws {
        fixture.session.logOut()
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.code == .loginExpired)
        #expect(recorder.failure?.status == .unauthorized)
        #expect(fixture.lines == ["GET /1 -"])
        fixture.session.logIn(with: Credential(token: "expired"))
        let again = fixture.get("/2")
        try fixture.clock.run()
        #expect(again.isFinished)
        #expect(fixture.lines == ["GET /1 -", "GET /2 expired", "POST /login -", "GET /2 t1"])
    }

    /// A login during which the session logs out stores nothing.
    @Test func loginLogsOut() throws {
        let box = Box<Session>()
        let fixture = LoginFixture { plain in
            LoginFixture.logIn(plain).handleEvents(onNext: { _ in box.value?.logOut() })
        }
        box.value = fixture.session
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.code == .loginExpired)
        #expect(fixture.session.credential == nil)
        #expect(fixture.eventTexts == ["logged out by hand"])
        #expect(fixture.server.logins == 1)
    }

    /// The new account has its own login.
    @Test func newAccountLogsIn() throws {
        let parked = fixture.get("/1")
        try fixture.clock.advance(by: .milliseconds(5))
        fixture.session.logIn(with: accountB)
        let recorder = fixture.get("/2")
        try fixture.clock.run()
        #expect(parked.failure?.code == .loginExpired)
        #expect(recorder.isFinished)
        #expect(fixture.lines == ["GET /1 old", "POST /login -", "GET /2 B", "POST /login -", "GET /2 t2"])
        #expect(fixture.session.credential?.token == "t2")
    }

    /// A refused login changes the account for the cache, too, as logging out does.
    @Test(arguments: [false, true])
    func cacheIdentity(isRefused: Bool) throws {
        let fixture = LoginFixture(credential: Credential(token: "t0"), cachePolicy: .time(.seconds(600)))
        let first = fixture.get("/mine")
        try fixture.clock.run()
        if isRefused {
            fixture.server.contents.withLock {
                $0.answers["/other"] = [.status(.unauthorized)]
                $0.loginAnswers = [.status(.forbidden)]
            }
            _ = fixture.get("/other")
        } else {
            fixture.session.logOut()
        }
        try fixture.clock.run()
        let after = fixture.get("/mine")
        try fixture.clock.run()
        #expect(first.isFinished)
        #expect(after.values.isEmpty && after.failure?.status != nil)
        #expect(fixture.lines.last == "GET /mine -")
    }

    /// A request waiting for its retry when the login is refused fails with the refusal.
    @Test func retryAfterRefusal() throws {
        let fixture = LoginFixture(
            credential: Credential(token: "t0"), retry: .exponentialBackoff(backoff: .constant(.seconds(1))))
        fixture.server.contents.withLock {
            $0.answers["/busy"] = [.status(.serviceUnavailable)]
            $0.answers["/other"] = [.status(.unauthorized)]
            $0.loginAnswers = [.json(#"{"message": "wrong password"}"#, status: .forbidden)]
        }
        let waiting = fixture.get("/busy")
        _ = fixture.get("/other")
        try fixture.clock.run()
        #expect(waiting.failure?.code == .loginExpired)
        #expect(waiting.failure?.cause?.message == "wrong password")
        #expect(waiting.failure?.url?.path == "/busy")
        #expect(fixture.lines.filter { $0.hasPrefix("GET /busy") } == ["GET /busy t0"])
    }
}
