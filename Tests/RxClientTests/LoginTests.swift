import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// The requests of a login, and its results.
@Suite struct LoginTests {
    /// A session that has logged in is released with its last owner.
    @Test func released() throws {
        weak var session: Session?
        do {
            let fixture = LoginFixture()
            session = fixture.session
            let recorder = fixture.get("/1")
            try fixture.clock.run()
            #expect(recorder.isFinished && fixture.server.logins == 1)
        }
        #expect(session == nil)
    }

    /// A login that fails does not use up the request's replay.
    @Test func replayIsLeft() throws {
        let fixture = LoginFixture(retry: RetryFixture.everySecond())
        fixture.server.contents.withLock { $0.loginAnswers = [.failure(.connect)] }
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.server.logins == 2)
    }

    /// A POST that was redirected is not sent again after a login.
    @Test func redirectedPost() throws {
        let fixture = LoginFixture(credential: Credential(token: "t0"))
        fixture.server.contents.withLock { contents in
            contents.answers["/orders"] = [.status(.seeOther, headers: [.location: "/orders/1"])]
            contents.answers["/orders/1"] = [.status(.unauthorized)]
        }
        let recorder = Recorder(fixture.client.post("/orders"), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.failure?.status == .unauthorized)
        #expect(fixture.lines == ["POST /orders t0", "GET /orders/1 t0"])
    }

    /// Requests of the login bypass the session, also through the client that has it.
    @Test func bypass() throws {
        let box = Box<Client>()
        let fixture = LoginFixture { plain in
            (box.value ?? plain).get("/captcha").flatMap(.concat) { _ in
                LoginFixture.logIn(box.value ?? plain)
            }
        }
        fixture.server.contents.withLock { $0.answers["/captcha"] = [.json("1")] }
        box.value = fixture.client
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.lines == ["GET /1 old", "GET /captcha -", "POST /login -", "GET /1 t1"])
    }

    /// … and through observe(on:).
    @Test func bypassOnOtherSchedulers() throws {
        let box = Box<Client>()
        let other = VirtualScheduler()
        let fixture = LoginFixture { plain in
            LoginFixture.logIn(box.value ?? plain).observe(on: other).delay(.zero)
        }
        box.value = fixture.client
        let recorder = fixture.get("/1")
        for _ in 0..<10 {
            try fixture.clock.run()
            try other.run()
        }
        #expect(recorder.isFinished)
        #expect(fixture.lines == ["GET /1 old", "POST /login -", "GET /1 t1"])
    }

    /// … and never trigger a login: a login that gets 401 has failed.
    @Test func loginGets401() throws {
        let box = Box<Client>()
        let fixture = LoginFixture { plain in LoginFixture.logIn(box.value ?? plain) }
        fixture.server.contents.withLock { $0.loginAnswers = [.status(.unauthorized)] }
        box.value = fixture.client
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.status == .unauthorized)
        #expect(recorder.failure?.url?.path == "/login")
        #expect(fixture.server.logins == 1)
    }

    /// A login with `async`, for a request that finds the login expired.
    private func awaited(
        _ login: @escaping @Sendable (Client) async throws -> Credential,
        renewal: (@Sendable (Client, Credential) async throws -> Credential)? = nil
    ) async throws -> (text: String?, error: NetworkError?, session: Session, lines: [String]) {
        let server = TokenServer()
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock) { server.answer($0) }
        let box = Box<Client>()
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        let renewing = renewal.map { renewal in
            { @Sendable (credential: Credential) async throws -> Credential in
                try await renewal(box.value!, credential)
            }
        }
        let session = Session(credential: Credential(token: "old"), renewal: renewing) {
            let client = try #require(box.value)
            return try await login(client)
        }
        configuration.session = session
        let client = Client(configuration: configuration, transport: transport)
        box.value = client
        let recorder = Recorder(client.get("/1").map(\.text), on: clock)
        while !recorder.isFinished, recorder.failure == nil {
            try clock.run()
            await Task.yield()
        }
        return (recorder.values.first, recorder.failure, session, transport.requests.map(\.line))
    }

    /// A login may await its requests, which bypass the session.
    @Test func asyncLogin() async throws {
        let outcome = try await awaited { client in
            Credential(token: try await client.post("/login").decode(Login.self).value().token)
        }
        #expect(outcome.text == #""/1""#)
        #expect(outcome.lines == ["GET /1 old", "POST /login -", "GET /1 t1"])
        let renewed = try await awaited(
            { _ in throw NetworkError(.connect, "not called") },
            renewal: { client, credential in
                #expect(credential.token == "old")
                return Credential(token: try await client.post("/login").decode(Login.self).value().token)
            })
        #expect(renewed.lines == ["GET /1 old", "POST /login -", "GET /1 t1"])
    }

    /// A login that throws a NetworkError may log out; one that throws another error does not.
    @Test func asyncLoginThrows() async throws {
        struct NoKeychain: Error {}
        let refused = try await awaited { _ in throw NetworkError(.envelope, "wrong password") }
        #expect(refused.error?.code == .envelope && refused.session.credential == nil)
        let failed = try await awaited { _ in throw NoKeychain() }
        #expect(failed.error?.code == .loginFailed && failed.session.credential?.token == "old")
        #expect(failed.error?.message.contains("NoKeychain") == true)
        let cancelled = try await awaited { _ in throw CancellationError() }
        #expect(cancelled.error?.code == .cancelled && cancelled.session.credential?.token == "old")
        let typed = try await awaited { client async throws(NetworkError) in
            _ = try await client.get("/none").value()
            throw NetworkError(.connect, "typed")
        }
        #expect(typed.error != nil && typed.session.credential?.token == nil)
    }

    /// An endpoint that does not use the session neither carries a token nor logs in.
    @Test func withoutSession() throws {
        let fixture = LoginFixture()
        var call = InlineEndpoint(.get, "/1")
        call.options.usesSession = false
        let recorder = Recorder(fixture.client.request(call), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.failure?.status == .unauthorized)
        #expect(fixture.lines == ["GET /1 -"])
    }

    /// A refused login is one tip: that of the request that started it, or of the first that is shown.
    @Test(arguments: [false, true], [false, true])
    func tips(logsInByItself: Bool, isHidden: Bool) throws {
        let box = Box<Client>()
        let fixture = LoginFixture { plain in LoginFixture.logIn(box.value ?? plain) }
        if logsInByItself { box.value = fixture.client }
        fixture.server.contents.withLock {
            $0.loginAnswers = [.json(#"{"message": "wrong password"}"#, status: .forbidden)]
        }
        let tips = Recorder(fixture.client.errorTips, on: fixture.clock)
        let options = RequestOptions(presentation: isHidden ? .hidden : .all)
        let order = Recorder(fixture.client.post("/orders", options: options), on: fixture.clock)
        let waiting = (0..<4).map { fixture.get("/\($0)") }
        try fixture.clock.run()
        #expect(order.failure?.message == "wrong password")
        #expect(waiting.allSatisfy { $0.failure?.code == .loginExpired })
        #expect(waiting.map { $0.failure?.url?.path } == (0..<4).map { "/\($0)" })
        #expect(waiting.allSatisfy { $0.failure?.cause?.message == "wrong password" })
        #expect(tips.values.count == 1)
        #expect(tips.values.first?.code == (isHidden ? .loginExpired : .status))

        // A request that begins later has its own failure.
        let later = fixture.get("/later")
        try fixture.clock.run()
        #expect(later.failure?.code == .loginExpired && later.failure?.status == .unauthorized)
        #expect(later.failure?.method == .get && later.failure?.url?.path == "/later")
        #expect(later.failure?.cause?.message == "wrong password")
        #expect(tips.values.dropFirst().map(\.url?.path) == ["/later"])
        // The text of a server stays out of logs.
        #expect(later.failure?.withoutServerText.cause?.message.isEmpty == true)
        box.value = nil
    }

    /// A session for a token only: its refusal is the end of the account.
    @Test func tokenOnly() throws {
        let clock = VirtualScheduler()
        let server = TokenServer()
        let transport = ScriptedTransport(on: clock) { server.answer($0) }
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        let session = Session(credential: Credential(token: "t0"), placement: .header("X-Token"))
        configuration.session = session
        let client = Client(configuration: configuration, transport: transport)
        let events = Recorder(session.events, on: clock)
        func get(_ path: String) throws -> Recorder<Response, NetworkError> {
            let recorder = Recorder(client.get(path), on: clock)
            try clock.run()
            return recorder
        }
        #expect(try get("/1").isFinished)
        server.contents.withLock { $0.token = "t1" }
        let refused = try get("/2").failure
        #expect(refused?.code == .loginExpired && refused?.status == .unauthorized)
        #expect(refused?.url?.path == "/2")
        #expect(session.credential == nil && events.values.count == 1)
        session.logIn(with: Credential(token: "t1"))
        #expect(try get("/3").isFinished)
        #expect(transport.requests.map(\.line) == ["GET /1 t0", "GET /2 t0", "GET /3 t1"])
    }

    /// Rejected credentials: each waiting request fails once, one logged-out event, session cleared.
    @Test func rejected() throws {
        let fixture = LoginFixture()
        fixture.server.contents.withLock {
            $0.loginAnswers = [.json(#"{"message": "wrong password"}"#, status: .forbidden)]
        }
        let recorders = (0..<20).map { fixture.get("/\($0)") }
        try fixture.clock.run()
        #expect(recorders[0].failure?.message == "wrong password")
        #expect(
            recorders.dropFirst().allSatisfy {
                $0.events.count == 1 && $0.failure?.code == .loginExpired
                    && $0.failure?.cause?.message == "wrong password"
            })
        #expect(fixture.eventTexts == ["logged out status"])
        #expect(fixture.session.credential == nil)

        let later = fixture.get("/later")
        try fixture.clock.run()
        #expect(later.failure?.cause?.message == "wrong password")
        #expect(fixture.server.logins == 1, "later requests do not log in")
        #expect(fixture.eventTexts.count == 1)
        #expect(fixture.lines.last == "GET /later -")

        fixture.session.logIn(with: Credential(token: "t0"))
        let again = fixture.get("/again")
        try fixture.clock.run()
        #expect(again.isFinished)
    }

    /// A network failure or 5xx during login: waiting requests fail, the session keeps its credential.
    @Test(arguments: [
        ScriptedTransport.Reply.failure(.connect), .failure(.attemptTimeout), .status(.badGateway),
        .status(.tooManyRequests), .json("no token here"), .failure(.partialBody),
    ])
    func loginUnreachable(answer: ScriptedTransport.Reply) throws {
        let fixture = LoginFixture()
        fixture.server.contents.withLock { $0.loginAnswers = [answer] }
        let recorders = (0..<3).map { fixture.get("/\($0)") }
        try fixture.clock.run()
        #expect(recorders.allSatisfy { $0.events.count == 1 && $0.failure != nil })
        #expect(fixture.session.credential?.token == "old")
        #expect(fixture.eventTexts.isEmpty)
        let later = fixture.get("/later")
        try fixture.clock.run()
        #expect(later.isFinished)
        #expect(fixture.server.logins == 2)
    }

    /// A login stream that ends without a value is a failed login.
    @Test func emptyLogin() throws {
        let fixture = LoginFixture { _ in .empty() }
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.code == .noContent)
        #expect(fixture.session.credential?.token == "old")
        #expect(fixture.eventTexts.isEmpty)
    }

    /// A login that responds at once, and one that never ends after its value.
    @Test func synchronousLogin() throws {
        for login: Observable<Credential, NetworkError> in [
            .just(Credential(token: "t0")),
            .concat([.just(Credential(token: "t0")), .just(Credential(token: "second")), .never()]),
        ] {
            let fixture = LoginFixture { _ in login }
            let recorders = (0..<3).map { fixture.get("/\($0)") }
            try fixture.clock.run()
            #expect(recorders.allSatisfy { $0.values.count == 1 && $0.isFinished })
            #expect(fixture.eventTexts == ["renewed"])
            #expect(fixture.session.credential?.token == "t0")
        }
    }

    /// Without a credential the first request that the server refuses logs in.
    @Test func noCredential() throws {
        let fixture = LoginFixture(credential: nil)
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.lines == ["GET /1 -", "POST /login -", "GET /1 t1"])
    }
}
