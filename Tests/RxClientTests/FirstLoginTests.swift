import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// Sessions without a credential.
@Suite struct FirstLoginTests {
    /// A session that must log in first sends nothing before, and logs in once for all requests.
    @Test(arguments: [1, 20])
    func requiresLogin(count: Int) throws {
        let fixture = LoginFixture(credential: nil, requiresLogin: true)
        let recorders = (0..<count).map { fixture.get("/\($0)") }
        try fixture.clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(fixture.lines == ["POST /login -"] + (0..<count).map { "GET /\($0) t1" })
        #expect(fixture.eventTexts == ["logged in"])
    }

    /// After a logout it sends without a credential, like every session.
    @Test func loggedOut() throws {
        let fixture = LoginFixture(requiresLogin: true)
        fixture.session.logOut()
        _ = fixture.get("/1")
        try fixture.clock.run()
        #expect(fixture.lines == ["GET /1 -"])
    }

    /// If that login fails, the requests fail with its error, and the next request tries again.
    @Test func firstLoginFails() throws {
        let fixture = LoginFixture(credential: nil, requiresLogin: true)
        fixture.server.contents.withLock { $0.loginAnswers = [.failure(.connect, "down")] }
        let recorders = (0..<3).map { fixture.get("/\($0)") }
        try fixture.clock.run()
        #expect(recorders.allSatisfy { $0.failure?.message == "down" })
        let later = fixture.get("/later")
        try fixture.clock.run()
        #expect(later.isFinished)
        #expect(fixture.lines == ["POST /login -", "POST /login -", "GET /later t2"])
    }

    /// A body that can be sent once, and counts its subscriptions.
    private func oneShot(_ uses: Box<Int>) -> Body {
        .stream(
            Observable<[UInt8], NetworkError>.deferred {
                uses.value = (uses.value ?? 0) + 1
                return .just(Array("once".utf8))
            })
    }

    /// A body that can be sent only once waits for a login that is known to be needed.
    @Test func oneShotBody() throws {
        let fixture = LoginFixture(credential: nil)
        let uses = Box<Int>()
        let recorder = Recorder(
            fixture.client.post("/upload", .body(oneShot(uses), contentType: "text/plain")).map(\.text),
            on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.lines == ["POST /login -", "POST /upload t1"])
    }

    /// The body is not read if that login fails.
    @Test func oneShotBodyIsLeft() throws {
        let fixture = LoginFixture(credential: nil)
        fixture.server.contents.withLock { $0.loginAnswers = [.status(.forbidden)] }
        let uses = Box<Int>()
        let recorder = Recorder(
            fixture.client.post("/upload", .body(oneShot(uses), contentType: "text/plain")).map(\.text),
            on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.failure?.status == .forbidden)
        #expect(uses.value == nil)
        #expect(fixture.lines == ["POST /login -"])
    }

    /// The first login is reported as logged in, later ones as renewed.
    @Test func events() throws {
        let fixture = LoginFixture(credential: nil)
        _ = fixture.get("/1")
        try fixture.clock.run()
        fixture.server.contents.withLock { $0.token = "another" }
        _ = fixture.get("/2")
        try fixture.clock.run()
        #expect(fixture.eventTexts == ["logged in", "renewed"])
    }

    /// Ways in which a login closure awaits the client that has the session.
    enum Way: CaseIterable {
        case async
        case asyncAfterRequest
        case create
        case forAwait
        case sequence
    }

    /// A login that awaits the client that waits for it.
    @Test(
        .timeLimit(.minutes(1)), arguments: Way.allCases,
        [nil, Credential(token: "old")])
    func loginAwaitsItsClient(way: Way, credential: Credential?) async throws {
        let server = TokenServer()
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        let transport = ImmediateTransport(server: server)
        let box = Box<Client>()
        @Sendable func logIn() async throws(NetworkError) -> Credential {
            guard let client = box.value else { throw NetworkError(.noContent, "no login") }
            let login = try await client.post("/login").decode(Login.self).value()
            return Credential(token: login.token)
        }
        configuration.session = Session(credential: credential, requiresLogin: true) {
            switch way {
            case .async: return .async { () throws(NetworkError) in try await logIn() }
            case .asyncAfterRequest:
                guard let client = box.value else { return .empty() }
                return client.get("/captcha").flatMap { _ in
                    .async { () throws(NetworkError) in try await logIn() }
                }
            case .create:
                return .create { emitter in
                    let task = Task {
                        do throws(NetworkError) { emitter.send(try await logIn()) } catch {
                            emitter.fail(error)
                        }
                    }
                    emitter.onClose { task.cancel() }
                }
            case .forAwait:
                return .async { () throws(NetworkError) in
                    guard let client = box.value else { throw NetworkError(.noContent, "no client") }
                    for try await login in client.post("/login").decode(Login.self).values(
                        buffering: .unbounded)
                    {
                        return Credential(token: login.token)
                    }
                    throw NetworkError(.noContent, "no login")
                }
            case .sequence: return Observable(Logins(logIn: logIn))
            }
        }
        server.contents.withLock { $0.answers["/captcha"] = [.json("1")] }
        let client = Client(configuration: configuration, transport: transport)
        box.value = client
        let texts = try await withThrowingTaskGroup(of: String?.self) { group in
            for index in 0..<10 { group.addTask { try await client.get("/\(index)").value().text } }
            return try await group.reduce(into: Set<String>()) { if let text = $1 { $0.insert(text) } }
        }
        #expect(texts.count == 10)
        #expect(server.logins == 1)
    }
}

/// One login, made when it is asked for.
private struct Logins: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        var logIn: (@Sendable () async throws(NetworkError) -> Credential)?

        mutating func next(
            isolation actor: isolated (any Actor)? = nil
        ) async throws(NetworkError) -> Credential? {
            guard let logIn = logIn.take() else { return nil }
            return try await logIn()
        }
    }

    let logIn: @Sendable () async throws(NetworkError) -> Credential

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(logIn: logIn) }
}
