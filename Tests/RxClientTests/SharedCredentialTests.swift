import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// Sessions that share one store.
@Suite struct SharedCredentialTests {
    /// A server whose refresh tokens are valid once.
    fileprivate final class TokenFamily: Sendable {
        struct Contents {
            var number = 0
            /// Whether the access token is accepted.
            var isValid = false
            /// The refresh tokens that have arrived.
            var sent: [String] = []
            var logins = 0
            var refusesRenewals = false
            var refusesLogins = false
        }

        let contents = Mutex(Contents())

        var sent: [String] { contents.withLock { $0.sent } }
        var logins: Int { contents.withLock { $0.logins } }

        func expire() { contents.withLock { $0.isValid = false } }

        func answer(_ request: Request) -> ScriptedTransport.Reply {
            contents.withLock { contents in
                switch request.url.path {
                case "/token":
                    let token = request.form?.split(separator: "=").last.map(String.init) ?? "-"
                    contents.sent.append(token)
                    guard token == "r\(contents.number)", !contents.refusesRenewals else {
                        return .status(.badRequest)
                    }
                    return contents.issue()
                case "/login":
                    contents.logins += 1
                    return contents.refusesLogins ? .status(.forbidden) : contents.issue()
                default:
                    let isKnown = contents.isValid && request.token == "t\(contents.number)"
                    return isKnown ? .json("1", after: .milliseconds(1)) : .status(.unauthorized)
                }
            }
        }
    }

    private struct Tokens: Decodable, Sendable {
        let token: String
        let refresh: String?
    }

    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 1000))
    private let files: MemoryFileSystem
    private let server = TokenFamily()
    private let transport: ScriptedTransport
    private let path = "/app/credential.json"

    init() {
        files = MemoryFileSystem(on: clock, latency: .milliseconds(2))
        transport = ScriptedTransport(on: clock) { [server] in server.answer($0) }
    }

    private struct Participant {
        let client: Client
        let session: Session
        let events: Recorder<Session.Event, Never>

        var eventTexts: [String] { events.values.map { "\($0)".prefix { $0 != "(" }.description } }
    }

    private func participant(
        _ credential: Credential? = nil, store: (any CredentialStore)? = nil, renews: Bool = true
    ) -> Participant {
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        let plain = Client(configuration: configuration, transport: transport)
        let renewal = { @Sendable (credential: Credential) in
            plain.post("/token", .form(["refresh_token": credential.refreshToken ?? ""]))
                .decode(Tokens.self).map { Credential(token: $0.token, refreshToken: $0.refresh) }
        }
        let session = Session(
            credential: credential, store: store ?? CredentialFile(path, on: files),
            renewal: renews ? renewal : nil
        ) {
            plain.post("/login").decode(Tokens.self)
                .map { Credential(token: $0.token, refreshToken: $0.refresh) }
        }
        configuration.session = session
        return Participant(
            client: Client(configuration: configuration, transport: transport), session: session,
            events: Recorder(session.events, on: clock))
    }

    private func get(_ participant: Participant) -> Recorder<Response, NetworkError> {
        Recorder(participant.client.get("/goods"), on: clock)
    }

    private func save(_ credential: Credential?) throws {
        CredentialFile(path, on: files).save(credential).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.run()
    }

    private func saved() throws -> Credential? {
        let recorder = Recorder(CredentialFile(path, on: files).load(), on: clock)
        try clock.run()
        return try #require(recorder.values.first)
    }

    private let first = Credential(token: "t0", refreshToken: "r0")

    /// Two sessions find the login expired at the same time: one renews, the other takes its credential.
    @Test func together() throws {
        try save(first)
        let participants = (0..<2).map { _ in participant() }
        let recorders = participants.flatMap { participant in (0..<3).map { _ in get(participant) } }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(server.sent == ["r0"])
        #expect(server.logins == 0)
        #expect(participants.map(\.eventTexts) == [["renewed"], ["renewed"]])
        #expect(try saved() == Credential(token: "t1", refreshToken: "r1"))
        #expect(files.paths == [path], "the lock is released")
    }

    /// Two sessions begin with the same credential and an empty store: its refresh token is sent once.
    @Test func sameBeginning() throws {
        let participants = (0..<2).map { _ in participant(first) }
        let recorders = participants.map { get($0) }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(server.sent == ["r0"])
    }

    /// A session that learns late of an expiry takes the credential that another one has saved.
    @Test func later() throws {
        try save(first)
        let (early, late) = (participant(), participant())
        late.session.restore().subscribe()
        try clock.run()
        let renewing = get(early)
        try clock.run()
        let taking = get(late)
        try clock.run()
        #expect(renewing.isFinished && taking.isFinished)
        #expect(server.sent == ["r0"])
        #expect(late.session.credential?.token == "t1")
        #expect(late.eventTexts == ["renewed"])
    }

    /// If that credential has expired as well, it is renewed, and the request succeeds.
    @Test(arguments: [false, true])
    func expiredAgain(isKnown: Bool) throws {
        try save(first)
        let late = participant()
        late.session.restore().subscribe()
        try clock.run()
        // Another session has renewed the credential, long ago.
        server.contents.withLock { $0.number = 1 }
        let expires = isKnown ? Date(timeIntervalSince1970: 1) : nil
        try save(Credential(token: "t1", refreshToken: "r1", expires: expires))
        let recorder = get(late)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(server.sent == ["r1"])
        #expect(server.logins == 0)
        #expect(try saved()?.refreshToken == "r2")
    }

    /// A renewal keeps the account of the credential that it renews, which may be another one.
    @Test func renewalOfAnotherAccount() throws {
        try save(Credential(token: "t0", refreshToken: "r0", account: "anna"))
        let late = participant()
        late.session.restore().subscribe()
        try clock.run()
        server.contents.withLock { $0.number = 1 }
        let expires = Date(timeIntervalSince1970: 1)
        try save(Credential(token: "t1", refreshToken: "r1", expires: expires, account: "bert"))
        let recorder = get(late)
        try clock.run()
        #expect(recorder.failure?.code == .loginExpired, "it is a request of anna")
        #expect(server.sent == ["r1"])
        #expect(late.session.credential?.account == "bert")
        #expect(try saved()?.account == "bert")
    }

    /// Sessions that renew in turn never send a refresh token twice.
    @Test(arguments: 1...5)
    func turns(seed: UInt64) throws {
        try save(first)
        var random = SeededRandom(seed)
        let participants = (0..<3).map { _ in participant() }
        for _ in 0..<20 {
            server.expire()
            var recorders: [Recorder<Response, NetworkError>] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                recorders.append(get(participants[Int.random(in: 0..<3, using: &random)]))
                try clock.advance(by: .milliseconds(Int.random(in: 0...4, using: &random)))
            }
            try clock.run()
            #expect(recorders.allSatisfy { $0.isFinished })
        }
        #expect(server.sent == (0..<20).map { "r\($0)" })
        #expect(server.logins == 0)
    }

    /// A refused session takes the credential that another has saved meanwhile, without a lock.
    @Test(arguments: ["/token", "/login"])
    func savedMeanwhile(path place: String) throws {
        try save(first)
        server.contents.withLock { contents in
            contents.refusesRenewals = true
            contents.refusesLogins = true
        }
        let refused = participant()
        let recorder = get(refused)
        while !transport.requests.contains(where: { $0.url.path == place }) {
            try clock.advance(by: .milliseconds(1))
        }
        let other = Credential(token: "t5", refreshToken: "r5")
        files[path] = try bytes(of: other)
        server.contents.withLock { ($0.number, $0.isValid) = (5, true) }
        try clock.run()
        #expect(recorder.isFinished)
        #expect(refused.session.credential == other)
        #expect(try saved() == other)
        #expect(server.sent == ["r0"])
    }

    /// A refused session erases its own credential, and nothing that it cannot read.
    @Test func erasing() throws {
        try save(first)
        server.contents.withLock { $0.refusesRenewals = true }
        server.contents.withLock { $0.refusesLogins = true }
        let own = get(participant())
        try clock.run()
        #expect(own.failure?.status == .forbidden)
        #expect(try saved() == nil)

        try save(first)
        let other = participant()
        let unreadable = get(other)
        while transport.requests.count(where: { $0.url.path == "/login" }) < 2 {
            try clock.advance(by: .milliseconds(1))
        }
        files[path] = Array("a later version".utf8)
        try clock.run()
        #expect(unreadable.failure?.status == .forbidden)
        #expect(files[path] == Array("a later version".utf8))
    }

    /// After another session has logged out, the refresh token is not sent: the session logs in.
    @Test func loggedOutElsewhere() throws {
        try save(first)
        let (leaving, staying) = (participant(), participant())
        for participant in [leaving, staying] { participant.session.restore().subscribe() }
        try clock.run()
        leaving.session.logOut()
        try clock.run()
        #expect(try saved() == nil)
        let recorder = get(staying)
        try clock.run()
        #expect(recorder.isFinished)
        #expect(server.sent.isEmpty)
        #expect(server.logins == 1)
    }

    /// Logging out erases the account, renewed by another session or not, and no other account.
    @Test(
        arguments: [(nil, nil, true), ("anna", "anna", true), ("anna", nil, true), ("anna", "bert", false)]
            as [(String?, String?, Bool)])
    func loggingOut(own: String?, found: String?, isErased: Bool) throws {
        try save(Credential(token: "t0", refreshToken: "r0", account: own))
        let leaving = participant()
        leaving.session.restore().subscribe()
        try clock.run()
        try save(Credential(token: "t1", refreshToken: "r1", account: found))
        leaving.session.logOut()
        try clock.run()
        #expect(try (saved() == nil) == isErased)
    }

    /// A logout during another session's renewal is not undone by it.
    @Test func logoutDuringRenewal() throws {
        try save(first)
        let (leaving, renewing) = (participant(), participant())
        leaving.session.restore().subscribe()
        try clock.run()
        let recorder = get(renewing)
        while server.sent.isEmpty { try clock.advance(by: .milliseconds(1)) }
        leaving.session.logOut()
        try clock.run()
        #expect(recorder.isFinished)
        #expect(try saved() == nil)
    }

    /// A lock that another process keeps: nothing is sent, the account stays, and a later request renews.
    @Test func lockedElsewhere() throws {
        try save(first)
        files.lockedElsewhere = [path + ".lock"]
        let waiting = participant()
        let recorder = get(waiting)
        try clock.run()
        #expect(recorder.failure?.code == .locked)
        #expect(
            recorder.failure?.message
                == "another session or process has been renewing the credential in \(path) for 30 s")
        #expect(clock.now > .seconds(30) && clock.now < .seconds(40))
        #expect(server.sent.isEmpty && server.logins == 0)
        #expect(waiting.session.credential == first)
        files.lockedElsewhere = []
        let again = get(waiting)
        try clock.run()
        #expect(again.isFinished)
        #expect(server.sent == ["r0"])
        #expect(try saved()?.token == "t1")
    }

    /// Without a lock, no shared refresh token is sent, but a login without one proceeds.
    @Test(arguments: [false, true])
    func unlockable(hasRefreshToken: Bool) throws {
        try save(Credential(token: "t0", refreshToken: hasRefreshToken ? "r0" : nil))
        files.fail(.lock, of: path + ".lock", "no locks available")
        let participant = participant(renews: hasRefreshToken)
        let recorder = get(participant)
        try clock.run()
        #expect(recorder.failure?.code == (hasRefreshToken ? .file : nil))
        #expect(server.sent.isEmpty)
        #expect(server.logins == (hasRefreshToken ? 0 : 1))
    }

    /// A change of the account ends a renewal, and gives its lock to the next session.
    @Test func changeDuringRenewal() throws {
        try save(first)
        let (leaving, waiting) = (participant(), participant())
        _ = get(leaving)
        while server.sent.isEmpty { try clock.advance(by: .milliseconds(1)) }
        let recorder = get(waiting)
        leaving.session.logIn(with: Credential(token: "t9", refreshToken: "r9"))
        server.contents.withLock { ($0.number, $0.isValid) = (9, true) }
        try clock.run()
        #expect(recorder.isFinished)
        #expect(server.sent == ["r0"])
        #expect(try saved()?.token == "t9")
        #expect(files.lockedPaths.isEmpty && files.paths == [path])
    }

    private func bytes(of credential: Credential) throws -> [UInt8] {
        let elsewhere = MemoryFileSystem(on: clock)
        CredentialFile(path, on: elsewhere).save(credential).subscribe()
        while elsewhere[path] == nil { try clock.advance(by: .zero) }
        return try #require(elsewhere[path])
    }
}

extension SharedCredentialTests.TokenFamily.Contents {
    fileprivate mutating func issue() -> ScriptedTransport.Reply {
        number += 1
        isValid = true
        return .json(#"{"token":"t\#(number)","refresh":"r\#(number)"}"#, after: .milliseconds(10))
    }
}

extension Request {
    fileprivate var form: String? {
        guard case .bytes(let bytes) = body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
