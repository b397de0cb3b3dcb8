import RxNetworking
import Synchronization
import TestServers
import Testing

/// Ten thousand requests from eight threads, with a token that expires at random times.
@Suite(.timeLimit(.minutes(5))) struct SessionStressTests {
    private struct Issued: Decodable, Sendable { let token: String }

    /// One login for each expiry by the server's count; no request lost, none sent with an expired token.
    @Test func tokensExpireAtRandom() async throws {
        let judge = TokenJudge(seed: 42)
        let server = try RawServer { judge.answer($0) }
        let store = RecordingStore(Credential(token: "g0"))
        let login = Client(baseURL: server.baseURL)
        let session = Session(store: store, loginAttemptLimit: .max) {
            login.post("/login").decode(Issued.self).map { Credential(token: $0.token) }
        }
        let renewals = Atomic(0)
        session.events.subscribe(onNext: { event in
            if case .renewed = event { renewals.add(1, ordering: .relaxed) }
        })
        var configuration = ClientConfiguration()
        configuration.session = session
        configuration.options.retry = .never
        let loops = ["first", "second"].map { EventLoop(name: $0) }
        let clients = loops.map { loop in
            Client(
                baseURL: server.baseURL, configuration: configuration, transport: CurlTransport(loop: loop))
        }

        let crowd = SubscriberCrowd(clients: clients, store: store)
        await crowd.run(threads: 8, requests: 10_000, window: 8)
        for loop in loops { loop.shutDown() }

        let verdict = judge.verdict
        #expect(crowd.answers == 10_000)
        #expect(crowd.otherFailures == [])
        #expect(verdict.served == 10_000)
        #expect(verdict.servedTwice == 0)
        #expect(verdict.expiries > 10)
        #expect(verdict.logins == verdict.expiries, "one login for each generation")
        #expect(verdict.needlessLogins == 0)
        #expect(verdict.deadTokens == [], "sent with a token whose renewal had been stored")
        #expect(crowd.secondRefusals == verdict.secondRefusals, "a second refusal stands, and nothing else")
        #expect(renewals.load(ordering: .relaxed) == verdict.logins)
        #expect(store.latest?.token == "g\(verdict.logins)")
    }
}
