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

    private func bench(
        _ credential: Credential? = Credential(token: "old", refreshToken: "r0"),
        answer: ScriptedTransport.Reply = .json(#"{"token": "t1"}"#)
    ) -> LoginBench {
        let bench = LoginBench(
            credential: credential,
            renewal: { [used] client, credential in
                used.value = (used.value ?? []) + [credential.refreshToken ?? "-"]
                return client.post("/refresh").decode(Login.self).map { Credential(token: $0.token) }
            })
        bench.server.contents.withLock { contents in
            contents.token = "t1"
            contents.answers["/refresh"] = [answer]
        }
        return bench
    }

    @Test("The renewal runs before the login, once for all waiting requests")
    func renewal() throws {
        let bench = bench()
        let recorders = (0..<3).map { bench.get("/\($0)") }
        try bench.clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(used.value == ["r0"])
        #expect(bench.server.logins == 0)
        #expect(bench.eventTexts == ["renewed"])
    }

    @Test("A renewed credential without a refresh token keeps the former one", arguments: [nil, "r1"])
    func keepsTheRefreshToken(next: String?) throws {
        let used = used
        let bench = LoginBench(
            credential: Credential(token: "old", refreshToken: "r0", account: "anna"),
            renewal: { client, credential in
                used.value = (used.value ?? []) + [credential.refreshToken ?? "-"]
                return client.post("/login").decode(Login.self)
                    .map { Credential(token: $0.token, refreshToken: next) }
            })
        for round in 1...3 {
            let recorder = bench.get("/\(round)")
            try bench.clock.run()
            #expect(recorder.isFinished)
            bench.server.contents.withLock { $0.token = "expired" }
        }
        #expect(used.value == ["r0", next ?? "r0", next ?? "r0"])
        #expect(bench.session.credential?.account == "anna")
    }

    @Test("If the renewal is refused, the login runs")
    func refused() throws {
        let bench = bench(answer: .status(.badRequest))
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(used.value == ["r0"])
        #expect(bench.server.logins == 1)
        #expect(bench.eventTexts == ["renewed"])
    }

    @Test("If the renewal fails because of the network, no login runs, and the session keeps its credential")
    func unreachable() throws {
        let bench = bench(answer: .failure(.connect))
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.code == .connect)
        #expect(bench.server.logins == 0)
        #expect(bench.session.credential?.token == "old")
    }

    @Test("Without a credential there is nothing to renew")
    func nothing() throws {
        let bench = bench(nil)
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(used.value == nil)
        #expect(bench.server.logins == 1)
    }

    @Test("Two clients share a session: one login for both")
    func shared() throws {
        let bench = LoginBench()
        var configuration = ClientConfiguration(baseURL: "https://other.test")
        configuration.session = bench.session
        let other = Client(configuration: configuration, transport: bench.transport)
        let recorders =
            (0..<3).map { bench.get("/\($0)") }
            + (3..<6).map { Recorder(other.get("/\($0)").map(\.text), on: bench.clock) }
        try bench.clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(bench.server.logins == 1)
        #expect(bench.transport.requests.filter { $0.token == "t1" }.count == 6)
        bench.session.logOut()
        #expect(other.configuration.session?.credential == nil)
    }
}
