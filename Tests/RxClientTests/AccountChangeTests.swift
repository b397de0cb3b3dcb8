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
    private let bench = LoginBench()
    private let accountB = Credential(token: "B")

    private func change(to credential: Credential?) {
        if let credential { bench.session.logIn(with: credential) } else { bench.session.logOut() }
    }

    @Test(
        "Requests waiting for the previous account fail at once and are never replayed as the new one",
        arguments: [
            nil, Credential(token: "B"),
        ])
    func parked(credential: Credential?) throws {
        let parked = (0..<3).map { bench.get("/\($0)") }
        try bench.clock.advance(by: .milliseconds(5))
        let waiting = bench.get("/waiting")
        change(to: credential)
        #expect((parked + [waiting]).allSatisfy { $0.failure?.code == .loginExpired })
        #expect(parked[0].failure?.url?.path == "/0")
        #expect(parked.allSatisfy { $0.failure?.requestID != nil })
        try bench.clock.run()
        #expect((parked + [waiting]).allSatisfy { $0.events.count == 1 })
        #expect(bench.lines == ["GET /0 old", "GET /1 old", "GET /2 old", "POST /login -"])
        #expect(bench.session.credential == credential)
        #expect(
            bench.transport.cancelled.map(\.request.url.path) == ["/login"], "the old login is called off")
        #expect(bench.eventTexts == [credential == nil ? "logged out by hand" : "logged in"])
    }

    @Test(
        "A request under way that is refused after the change fails",
        arguments: [
            nil, Credential(token: "B"),
        ])
    func onItsWay(credential: Credential?) throws {
        let recorder = bench.get("/1")
        change(to: credential)
        try bench.clock.run()
        #expect(recorder.failure?.code == .loginExpired)
        #expect(bench.lines == ["GET /1 old"])
    }

    @Test("A change made by a handler of the renewal event comes before the replays")
    func insideTheEvent() throws {
        bench.session.events.subscribe(onNext: { [session = bench.session, accountB] event in
            if case .renewed = event { session.logIn(with: accountB) }
        })
        let recorders = (0..<3).map { bench.get("/\($0)") }
        try bench.clock.advance(by: .milliseconds(5))
        let waiting = bench.get("/waiting")
        try bench.clock.run()
        #expect((recorders + [waiting]).allSatisfy { $0.failure?.code == .loginExpired })
        #expect(!bench.lines.contains { $0.hasSuffix(" B") || $0.hasSuffix("t1") })
        #expect(bench.session.credential == accountB)
    }

    @Test(
        "A request waiting for its retry is not retried as another account",
        arguments: [
            nil, Credential(token: "B"),
        ])
    func duringBackoff(credential: Credential?) throws {
        let bench = LoginBench(
            credential: Credential(token: "t0"),
            retry: .exponentialBackoff(backoff: .constant(.seconds(1))))
        bench.server.contents.withLock { $0.answers["/1"] = [.status(.serviceUnavailable)] }
        let recorder = Recorder(bench.client.put("/1", .json(["a": 1])), on: bench.clock)
        try bench.clock.advance(by: .milliseconds(500))
        if let credential { bench.session.logIn(with: credential) } else { bench.session.logOut() }
        try bench.clock.run()
        #expect(recorder.failure?.code == .loginExpired)
        #expect(recorder.failure?.attempt == 2)
        #expect(bench.lines == ["PUT /1 t0"])
    }

    @Test("Logged out: requests carry no credential, and only the user can log in again")
    func loggedOut() throws {
        bench.session.logOut()
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.code == .loginExpired)
        #expect(recorder.failure?.status == .unauthorized)
        #expect(bench.lines == ["GET /1 -"])
        bench.session.logIn(with: Credential(token: "expired"))
        let again = bench.get("/2")
        try bench.clock.run()
        #expect(again.isFinished)
        #expect(bench.lines == ["GET /1 -", "GET /2 expired", "POST /login -", "GET /2 t1"])
    }

    @Test("A login during which the session logs out stores nothing")
    func loginLogsOut() throws {
        let box = Box<Session>()
        let bench = LoginBench { plain in
            LoginBench.logIn(plain).handleEvents(onNext: { _ in box.value?.logOut() })
        }
        box.value = bench.session
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.code == .loginExpired)
        #expect(bench.session.credential == nil)
        #expect(bench.eventTexts == ["logged out by hand"])
        #expect(bench.server.logins == 1)
    }

    @Test("The new account has its own login")
    func newAccountLogsIn() throws {
        let parked = bench.get("/1")
        try bench.clock.advance(by: .milliseconds(5))
        bench.session.logIn(with: accountB)
        let recorder = bench.get("/2")
        try bench.clock.run()
        #expect(parked.failure?.code == .loginExpired)
        #expect(recorder.isFinished)
        #expect(bench.lines == ["GET /1 old", "POST /login -", "GET /2 B", "POST /login -", "GET /2 t2"])
        #expect(bench.session.credential?.token == "t2")
    }

    @Test(
        "A refused login changes the account for the cache, too, as logging out does",
        arguments: [false, true])
    func cacheIdentity(isRefused: Bool) throws {
        let bench = LoginBench(credential: Credential(token: "t0"), cachePolicy: .time(.seconds(600)))
        let first = bench.get("/mine")
        try bench.clock.run()
        if isRefused {
            bench.server.contents.withLock {
                $0.answers["/other"] = [.status(.unauthorized)]
                $0.loginAnswers = [.status(.forbidden)]
            }
            _ = bench.get("/other")
        } else {
            bench.session.logOut()
        }
        try bench.clock.run()
        let after = bench.get("/mine")
        try bench.clock.run()
        #expect(first.isFinished)
        #expect(after.values.isEmpty && after.failure?.status != nil)
        #expect(bench.lines.last == "GET /mine -")
    }

    @Test(
        "A request waiting for its retry when the login is refused fails with the refusal"
    )
    func retryAfterRefusal() throws {
        let bench = LoginBench(
            credential: Credential(token: "t0"), retry: .exponentialBackoff(backoff: .constant(.seconds(1))))
        bench.server.contents.withLock {
            $0.answers["/busy"] = [.status(.serviceUnavailable)]
            $0.answers["/other"] = [.status(.unauthorized)]
            $0.loginAnswers = [.json(#"{"message": "wrong password"}"#, status: .forbidden)]
        }
        let waiting = bench.get("/busy")
        _ = bench.get("/other")
        try bench.clock.run()
        #expect(waiting.failure?.code == .loginExpired)
        #expect(waiting.failure?.cause?.message == "wrong password")
        #expect(waiting.failure?.url?.path == "/busy")
        #expect(bench.lines.filter { $0.hasPrefix("GET /busy") } == ["GET /busy t0"])
    }
}
