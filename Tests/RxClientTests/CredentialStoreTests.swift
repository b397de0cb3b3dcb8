import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// Credentials that outlive the process.
@Suite struct CredentialStoreTests {
    private let clock = VirtualScheduler()
    private let files: MemoryFileSystem
    private let path = "/app/credential.json"
    private let known = Credential(
        token: "t0", refreshToken: "r", expires: Date(timeIntervalSince1970: 2_000_000_000.5))

    init() { files = MemoryFileSystem(on: clock, latency: .milliseconds(2)) }

    private var file: CredentialFile { CredentialFile(path, on: files) }

    private func fixture(
        _ credential: Credential? = nil, store: (any CredentialStore)? = nil,
        login: (@Sendable (Client) -> Observable<Credential, NetworkError>)? = nil
    ) -> LoginFixture {
        LoginFixture(on: clock, credential: credential, store: store ?? file, login: login)
    }

    private func save(_ credential: Credential?) throws {
        file.save(credential).subscribe(onFailure: { Issue.record("\($0)") })
        try clock.run()
    }

    private func saved() throws -> Credential? {
        let recorder = Recorder(file.load(), on: clock)
        try clock.run()
        return try #require(recorder.values.first)
    }

    /// A saved credential is loaded unchanged.
    @Test(arguments: [false, true])
    func roundTrip(isLoggedIn: Bool) throws {
        #expect(try saved() == nil)
        try save(isLoggedIn ? known : nil)
        #expect(try saved() == (isLoggedIn ? known : nil))
    }

    /// It is restored before the first request, no matter how many begin at once, and read once.
    @Test func restoredFirst() throws {
        try save(known)
        let fixture = fixture(Credential(token: "older"))
        let recorders = (0..<3).map { fixture.get("/\($0)") }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(fixture.lines == ["GET /0 t0", "GET /1 t0", "GET /2 t0"])
        #expect(fixture.session.credential == known)
        #expect(files.readCount == 1)
        #expect(fixture.eventTexts.isEmpty)
    }

    /// With an empty store the session keeps its initial credential.
    @Test func nothingKept() throws {
        let fixture = fixture(known)
        let recorder = fixture.get("/1")
        try clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.lines == ["GET /1 t0"])
    }

    /// An app can ask for the account before it sends anything.
    @Test func restoring() throws {
        try save(known)
        let fixture = fixture()
        let recorder = Recorder(
            fixture.session.restore().map { fixture.session.credential?.token }, on: clock)
        #expect(fixture.session.credential == nil)
        try clock.run()
        #expect(recorder.values == ["t0"])
        #expect(recorder.isFinished)
        let again = Recorder(fixture.session.restore(), on: clock)
        try clock.run()
        #expect(again.values.count == 1)
        #expect(files.readCount == 1)
    }

    /// A renewed credential is stored before any replay.
    @Test func savedFirst() throws {
        let fixture = fixture(Credential(token: "old"))
        let found = Mutex<[String]>([])
        let watching = ScriptedTransport(on: clock) { [files, path, server = fixture.server] request in
            let text = files[path].map { String(decoding: $0, as: UTF8.self) } ?? "-"
            found.withLock { $0.append("\(request.line) \(text.contains("t1"))") }
            return server.answer(request)
        }
        var configuration = fixture.client.configuration
        configuration.session = fixture.session
        let client = Client(configuration: configuration, transport: watching)
        let recorders = (0..<3).map { Recorder(client.get("/\($0)"), on: clock) }
        try clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        let expected = (0..<3).map { "GET /\($0) old false" } + (0..<3).map { "GET /\($0) t1 true" }
        #expect(found.withLock { $0 } == expected)
        #expect(try saved()?.token == "t1")
    }

    /// It is saved with the name of its account, which a login need not repeat.
    @Test func savedAccount() throws {
        let fixture = fixture(Credential(token: "old", account: "anna"))
        _ = fixture.get("/1")
        try clock.run()
        #expect(try saved() == Credential(token: "t1", account: "anna"))
    }

    /// A store without a credential counts as logged out, which is reported; the server's refusal logs in.
    @Test(arguments: [
        "", "{", "[]", "7", #"{"credentials":[{"token":"t0"}]}"#, "\0\u{FFFD}", #"{"version":1}"#,
        #"{"version":2,"credentials":[{"token":"t0"}]}"#, #"{"version":1,"credentials":[{}]}"#,
        #"{"version":1,"credentials":[{"token":7}]}"#, #"{"version":1,"credentials":null}"#,
        String(repeating: "[", count: 5000),
        String(repeating: " ", count: 1 << 20 + 1),
    ])
    func brokenFiles(text: String) throws {
        files[path] = Array(text.utf8)
        let fixture = fixture(known)
        let recorder = fixture.get("/1")
        try clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.eventTexts == ["logged out file", "logged in"])
        #expect(fixture.lines == ["GET /1 -", "POST /login -", "GET /1 t1"])
        #expect(try saved()?.token == "t1")
    }

    /// Bytes cut off or changed anywhere are a credential or an error, and never a trap.
    @Test(arguments: 1...3)
    func mutations(seed: UInt64) throws {
        try save(known)
        let whole = try #require(files[path])
        var random = SeededRandom(seed)
        for _ in 0..<100 {
            files[path] = whole.mutated(by: &random)
            let fixture = fixture()
            let recorder = Recorder(fixture.session.restore(), on: clock)
            try clock.run()
            #expect(recorder.values.count == 1)
            #expect((fixture.session.credential == nil) == (fixture.eventTexts == ["logged out file"]))
        }
    }

    /// An unreadable store counts as logged out.
    @Test(arguments: [MemoryFileSystem.Operation.read])
    func unreadable(operation: MemoryFileSystem.Operation) throws {
        try save(known)
        files.fail(operation, of: path, "EIO")
        let fixture = fixture()
        let recorder = Recorder(fixture.session.restore(), on: clock)
        try clock.run()
        #expect(recorder.values.count == 1)
        #expect(fixture.session.credential == nil)
        #expect(fixture.eventTexts == ["logged out file"])
    }

    /// A failed save is reported and the credential is used nevertheless; the next change is saved.
    @Test func unwritable() throws {
        files.fail(.replace, of: path, "disk full")
        let fixture = fixture(Credential(token: "old"))
        let recorder = fixture.get("/1")
        try clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.eventTexts == ["not saved: \(path): disk full", "renewed"])
        let flushing = Recorder(fixture.session.flush(), on: clock)
        try clock.run()
        #expect(flushing.isFinished)
        #expect(try saved()?.token == "t1")
    }

    /// Logins and logouts are saved in order, and flush waits for them.
    @Test func accounts() throws {
        let fixture = fixture()
        for token in ["A", "B", "C"] { fixture.session.logIn(with: Credential(token: token)) }
        let first = Recorder(fixture.session.flush(), on: clock)
        try clock.run()
        #expect(first.isFinished)
        #expect(try saved()?.token == "C")
        fixture.session.logOut()
        let second = Recorder(fixture.session.flush(), on: clock)
        try clock.run()
        #expect(second.isFinished)
        #expect(try saved() == nil)
        #expect(try String(decoding: #require(files[path]), as: UTF8.self).contains(#""credentials":[]"#))
    }

    /// A login before the store has been read stays; earlier requests belong to the stored account.
    @Test func accountBeforeRestoring() throws {
        try save(known)
        let fixture = fixture()
        let early = fixture.get("/1")
        fixture.session.logIn(with: Credential(token: "B"))
        fixture.server.contents.withLock { $0.token = "B" }
        let late = fixture.get("/2")
        try clock.run()
        #expect(early.failure?.code == .loginExpired)
        #expect(late.isFinished)
        #expect(fixture.lines == ["GET /2 B"])
        #expect(try saved()?.token == "B")
    }

    /// A refused login empties the store.
    @Test func rejected() throws {
        try save(Credential(token: "old"))
        let fixture = fixture()
        fixture.server.contents.withLock { $0.loginAnswers = [.status(.forbidden)] }
        let recorder = fixture.get("/1")
        try clock.run()
        #expect(recorder.failure?.status == .forbidden)
        #expect(try saved() == nil)
    }

    /// A switch of accounts while a renewal is saved: the store ends with the new one.
    @Test func switchWhileSaving() throws {
        let fixture = fixture(Credential(token: "old"))
        let parked = fixture.get("/1")
        while files[path] == nil, !fixture.lines.contains(where: { $0.hasPrefix("POST") }) {
            try clock.advance(by: .milliseconds(1))
        }
        // The login responds after 10 ms, and saving takes 2 ms.
        try clock.advance(by: .milliseconds(11))
        fixture.session.logIn(with: Credential(token: "B"))
        try clock.run()
        #expect(parked.failure?.code == .loginExpired)
        #expect(fixture.session.credential?.token == "B")
        #expect(try saved()?.token == "B")
        #expect(fixture.eventTexts == ["logged in"])
    }

    /// A store that finishes without a value is empty, and nothing waits for its saves.
    @Test func silentStore() throws {
        struct Silent: CredentialStore {
            func load() -> Observable<Credential?, NetworkError> { .empty() }
            func save(_: Credential?) -> Observable<Void, NetworkError> { .empty() }
        }
        let fixture = fixture(Credential(token: "old"), store: Silent())
        let recorder = fixture.get("/1")
        try clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.lines == ["GET /1 old", "POST /login -", "GET /1 t1"])
    }

    /// A store that fails with cancellations delays no request.
    @Test func cancelledStore() throws {
        struct Cancelled: CredentialStore {
            func load() -> Observable<Credential?, NetworkError> { .fail(NetworkError(.cancelled, "")) }
            func save(_: Credential?) -> Observable<Void, NetworkError> {
                .fail(NetworkError(.cancelled, "gone"))
            }
        }
        let fixture = fixture(Credential(token: "old"), store: Cancelled())
        let recorder = fixture.get("/1")
        try clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.eventTexts == ["logged out cancelled", "not saved: gone", "logged in"])
    }
}
