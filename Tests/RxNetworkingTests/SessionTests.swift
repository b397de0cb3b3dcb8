import Foundation
import RxNetworking
import Synchronization
import TestServers
import Testing

/// Sessions over real sockets and files.
@Suite(.timeLimit(.minutes(1))) struct SessionTests {
    private struct Login: Decodable, Sendable { let token: String }

    /// Accepts the tokens t1, t2 …, each until the next login.
    private final class TokenServer: Sendable {
        let logins = Atomic(0)

        func answer(_ request: RawServer.Request) -> [RawServer.Step] {
            if request.target == "/login" {
                let number = logins.add(1, ordering: .relaxed).newValue
                return [.respond(200, body: #"{"token":"t\#(number)"}"#)]
            }
            let token = "t\(logins.load(ordering: .relaxed))"
            let isKnown =
                request.field("Authorization") == "Bearer \(token)"
                || request.field("Cookie") == "sid=\(token)"
                || request.text.hasSuffix("sid=\(token)") || request.target.hasSuffix("sid=\(token)")
            return [.respond(isKnown ? 200 : 401, body: "\"\(request.target)\"")]
        }
    }

    private func session(
        _ server: RawServer, _ credential: Credential? = Credential(token: "old"),
        store: (any CredentialStore)? = nil, placement: CredentialPlacement = .bearer
    ) -> Session {
        let login = Client(baseURL: server.baseURL)
        return Session(credential: credential, store: store, placement: placement) {
            login.post("/login").decode(Login.self).map { Credential(token: $0.token) }
        }
    }

    private func client(_ server: RawServer, _ session: Session) -> Client {
        var configuration = ClientConfiguration()
        configuration.session = session
        configuration.options.retry = .never
        return Client(baseURL: server.baseURL, configuration: configuration)
    }

    /// A credential in each placement is renewed, and the request sent again with the new one.
    @Test(arguments: ["bearer", "cookie", "query", "form"])
    func placements(name: String) async throws {
        let tokens = TokenServer()
        let server = try RawServer { tokens.answer($0) }
        let placement: CredentialPlacement =
            switch name {
            case "bearer": .bearer
            case "cookie": .cookie("sid")
            case "query": .query("sid")
            default: .parameter("sid")
            }
        let client = client(server, session(server, placement: placement))
        let response = try await client.post("/order", .form(["a": 1])).value()
        #expect(response.status == .ok)
        #expect(tokens.logins.load(ordering: .relaxed) == 1)
        #expect(server.record.requests.map(\.method) == ["POST", "POST", "POST"])
    }

    /// Two clients on two event loops share a session: one login for all of their requests.
    @Test func shared() async throws {
        let tokens = TokenServer()
        let server = try RawServer { tokens.answer($0) }
        let session = session(server)
        let first = client(server, session)
        let loop = EventLoop(name: "second")
        let transport = CurlTransport(loop: loop)
        var configuration = ClientConfiguration(baseURL: server.baseURL)
        configuration.session = session
        let second = Client(configuration: configuration, transport: transport)
        let paths = (0..<20).map { "/\($0)" }
        let responses = try await Observable.zip(
            paths.enumerated().map { ($0 % 2 == 0 ? first : second).get($1).decode(String.self) }
        ).value()
        #expect(responses == paths)
        #expect(tokens.logins.load(ordering: .relaxed) == 1)
        loop.shutDown()
    }

    /// Saved with mode 0600 and no other file, restored before the first request, emptied by logging out.
    @Test func file() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "session.\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "credential.json").path
        let tokens = TokenServer()
        let server = try RawServer { tokens.answer($0) }

        let first = session(server, store: CredentialFile(path))
        _ = try await client(server, first).get("/1").value()
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["credential.json"])

        let second = session(server, nil, store: CredentialFile(path))
        _ = try await client(server, second).get("/2").value()
        #expect(server.record.requests.last?.field("Authorization") == "Bearer t1")
        #expect(tokens.logins.load(ordering: .relaxed) == 1)
        second.logOut()
        try await second.flush().value()

        let third = session(server, nil, store: CredentialFile(path))
        try await third.restore().value()
        #expect(third.credential == nil)

        try Data("no credential".utf8).write(to: URL(filePath: path))
        let broken = session(server, store: CredentialFile(path))
        let events = Mutex<[String]>([])
        broken.events.subscribe(onNext: { event in
            if case .loggedOut(let error) = event { events.withLock { $0.append(error?.message ?? "") } }
        })
        let response = try await client(server, broken).get("/3").value()
        #expect(response.status == .ok)
        #expect(events.withLock { $0 } == ["\(path) cannot be read: it is not a saved credential"])
    }

    /// Paused requests that wait for a login block neither it nor the requests that would make room.
    @Test func requestsThatFeedRequests() async throws {
        let tokens = TokenServer()
        let (arrivals, answers, logins) = (try Gate(), try Gate(), try Gate())
        let requests = Atomic(0)
        let refusals = Atomic(0)
        let server = try RawServer { request in
            // No response is sent before all sixty have arrived: a request after the first refusal waits for
            // the login.
            if requests.add(1, ordering: .relaxed).newValue == 60 { arrivals.open() }
            // Twenty are accepted with any token, after the other forty have been refused.
            guard request.method == "GET", let number = Int(request.target.dropFirst()), number < 20 else {
                let steps = tokens.answer(request)
                if request.target == "/login" { return [.wait(logins)] + steps }
                if request.field("Authorization") == "Bearer old",
                    refusals.add(1, ordering: .relaxed).newValue == 40
                {
                    answers.open()
                }
                return [.wait(arrivals)] + steps
            }
            return [.wait(arrivals), .wait(answers), .respond(200, body: "\"\(request.target)\"")]
        }
        let client = client(server, session(server))
        let taken = Atomic(0)
        let orders = Observable<Int, NetworkError>.sequence(0..<60)
            .flatMap { client.get("/\($0)") }
            .handleEvents(onNext: { _ in
                // One is posted, and sixteen wait: now all requests are paused, including those that wait for
                // the login.
                if taken.add(1, ordering: .relaxed).newValue == 17 { logins.open() }
            })
            .flatMap(.concat) { _ in client.post("/orders") }
        let responses = try await orders.collect().value()
        #expect(responses.count == 60)
        #expect(responses.allSatisfy { $0.status == .ok } == true)
        #expect(tokens.logins.load(ordering: .relaxed) == 1)
    }

    /// Events report logins and logouts, with their reasons.
    @Test func events() async throws {
        let isRefusing = Atomic(false)
        let tokens = TokenServer()
        let server = try RawServer { request in
            if request.target == "/login", isRefusing.load(ordering: .relaxed) {
                return [.respond(403, body: #"{"message":"no such user"}"#)]
            }
            return tokens.answer(request)
        }
        let session = session(server)
        let client = client(server, session)
        let events = Mutex<[String]>([])
        session.events.subscribe(onNext: { event in
            let line =
                switch event {
                case .loggedIn: "in"
                case .renewed: "renewed"
                case .loggedOut(let error): "out \(error?.message ?? "by hand")"
                case .storageFailed(let error): "not saved \(error)"
                }
            events.withLock { $0.append(line) }
        })
        _ = try await client.get("/1").value()
        session.logOut()
        session.logIn(with: Credential(token: "stale"))
        isRefusing.store(true, ordering: .relaxed)
        let error = await #expect(throws: NetworkError.self) { _ = try await client.get("/2").value() }
        #expect(error?.message == "no such user")
        #expect(events.withLock { $0 } == ["renewed", "out by hand", "in", "out no such user"])
    }
}
