import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// A credential that is renewed by its refresh token.
@Suite struct RenewalTests {
    private let used = Box<[String]>()

    private func fixture(
        _ credential: Credential? = Credential(token: "old", refreshToken: "r0"),
        answer: ScriptedTransport.Reply = .json(#"{"token": "t1"}"#)
    ) -> LoginFixture {
        let fixture = LoginFixture(
            credential: credential,
            renewal: { [used] client, credential in
                used.value = (used.value ?? []) + [credential.refreshToken ?? "-"]
                return client.post("/refresh").decode(Login.self).map { Credential(token: $0.token) }
            })
        fixture.server.contents.withLock { contents in
            contents.token = "t1"
            contents.answers["/refresh"] = [answer]
        }
        return fixture
    }

    /// The renewal runs before the login, once for all waiting requests.
    @Test func renewal() throws {
        let fixture = fixture()
        let recorders = (0..<3).map { fixture.get("/\($0)") }
        try fixture.clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(used.value == ["r0"])
        #expect(fixture.server.logins == 0)
        #expect(fixture.eventTexts == ["renewed"])
    }

    /// A renewed credential without a refresh token keeps the former one.
    @Test(arguments: [nil, "r1"])
    func keepsTheRefreshToken(next: String?) throws {
        let used = used
        let fixture = LoginFixture(
            credential: Credential(token: "old", refreshToken: "r0", account: "anna"),
            renewal: { client, credential in
                used.value = (used.value ?? []) + [credential.refreshToken ?? "-"]
                return client.post("/login").decode(Login.self)
                    .map { Credential(token: $0.token, refreshToken: next) }
            })
        for round in 1...3 {
            let recorder = fixture.get("/\(round)")
            try fixture.clock.run()
            #expect(recorder.isFinished)
            fixture.server.contents.withLock { $0.token = "expired" }
        }
        #expect(used.value == ["r0", next ?? "r0", next ?? "r0"])
        #expect(fixture.session.credential?.account == "anna")
    }

    /// A credential that another server has issued does not keep the former refresh token.
    @Test func anotherIssuer() throws {
        let used = used
        let fixture = LoginFixture(
            credential: Credential(token: "old", refreshToken: "r0", issuer: "https://id.test"),
            renewal: { client, credential in
                used.value = (used.value ?? []) + [credential.refreshToken ?? "-"]
                return client.post("/login").decode(Login.self)
                    .map { Credential(token: $0.token, issuer: "https://other.test") }
            })
        for round in 1...2 {
            let recorder = fixture.get("/\(round)")
            try fixture.clock.run()
            #expect(recorder.isFinished)
            fixture.server.contents.withLock { $0.token = "expired" }
        }
        #expect(used.value == ["r0", "-"])
    }

    /// A credential that another server has issued without a name does not continue the account: its requests fail.
    @Test func anotherAccount() throws {
        let fixture = LoginFixture(
            credential: Credential(
                token: "old", refreshToken: "r0", account: "anna", issuer: "https://id.test"),
            renewal: { client, _ in
                client.post("/login").decode(Login.self)
                    .map { Credential(token: $0.token, issuer: "https://other.test") }
            })
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.code == .loginExpired)
        #expect(fixture.session.credential?.account == nil)
    }

    /// If the renewal is refused, the login runs.
    @Test func refused() throws {
        let fixture = fixture(answer: .status(.badRequest))
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(used.value == ["r0"])
        #expect(fixture.server.logins == 1)
        #expect(fixture.eventTexts == ["renewed"])
    }

    /// If the renewal fails because of the network, no login runs, and the session keeps its credential.
    @Test func unreachable() throws {
        let fixture = fixture(answer: .failure(.connect))
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.code == .connect)
        #expect(fixture.server.logins == 0)
        #expect(fixture.session.credential?.token == "old")
    }

    /// Without a credential there is nothing to renew.
    @Test func nothing() throws {
        let fixture = fixture(nil)
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(used.value == nil)
        #expect(fixture.server.logins == 1)
    }

    /// Two clients share a session: one login for both.
    @Test func shared() throws {
        let fixture = LoginFixture()
        var configuration = ClientConfiguration(baseURL: "https://other.test")
        configuration.session = fixture.session
        let other = Client(configuration: configuration, transport: fixture.transport)
        let recorders =
            (0..<3).map { fixture.get("/\($0)") }
            + (3..<6).map { Recorder(other.get("/\($0)").map(\.text), on: fixture.clock) }
        try fixture.clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(fixture.server.logins == 1)
        #expect(fixture.transport.requests.filter { $0.token == "t1" }.count == 6)
        fixture.session.logOut()
        #expect(other.configuration.session?.credential == nil)
    }
}
