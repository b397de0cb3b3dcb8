import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// The rules of Docs/Semantics.md, "Relogin", as requests experience them.
@Suite struct ReloginTests {
    /// Any number of requests that fail at the same time cause one login.
    @Test(arguments: [1, 20, 1000])
    func oneLogin(count: Int) throws {
        let fixture = LoginFixture()
        let recorders = (0..<count).map { fixture.get("/\($0)") }
        try fixture.clock.run()
        #expect(fixture.server.logins == 1)
        #expect(recorders.enumerated().allSatisfy { $1.values == ["\"/\($0)\""] && $1.isFinished })
        #expect(fixture.transport.requests.count == 2 * count + 1)
        #expect(fixture.eventTexts == ["renewed"])
        #expect(fixture.session.credential?.token == "t1")
    }

    /// Many threads at once cause one login.
    @Test(.timeLimit(.minutes(1)))
    func threads() async throws {
        let server = TokenServer()
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        let transport = ImmediateTransport(server: server)
        let plain = Client(configuration: configuration, transport: transport)
        configuration.session = Session(credential: Credential(token: "old")) { LoginFixture.logIn(plain) }
        let client = Client(configuration: configuration, transport: transport)
        let answered = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var count = 0
                    for index in 0..<50 {
                        let text = try? await client.get("/\(task)/\(index)").value().text
                        if text == "\"/\(task)/\(index)\"" { count += 1 }
                    }
                    return count
                }
            }
            return await group.reduce(0, +)
        }
        #expect(answered == 400)
        #expect(server.logins == 1)
    }

    /// 1. the version is older than the current generation → replay at once, no login.
    @Test func staleVersion() throws {
        let fixture = LoginFixture()
        fixture.server.contents.withLock { $0.delays["/slow"] = .milliseconds(100) }
        let recorders = [fixture.get("/slow"), fixture.get("/fast")]
        try fixture.clock.advance(to: .milliseconds(100))
        #expect(
            fixture.lines == [
                "GET /slow old", "GET /fast old", "POST /login -", "GET /fast t1", "GET /slow t1",
            ])
        #expect(fixture.transport.exchanges.last?.startedAt == .milliseconds(100))
        try fixture.clock.run()
        #expect(recorders.map(\.values) == [["\"/slow\""], ["\"/fast\""]])
        #expect(fixture.server.logins == 1)
    }

    /// 2. this generation's login has failed → the same error, no login; a later request may log in again.
    @Test func failedGeneration() throws {
        let fixture = LoginFixture()
        fixture.server.contents.withLock {
            $0.delays["/slow"] = .milliseconds(100)
            $0.loginAnswers = [.failure(.connect, "down", after: .milliseconds(10))]
        }
        let recorders = [fixture.get("/fast"), fixture.get("/slow")]
        try fixture.clock.run()
        #expect(recorders.map(\.failure?.code) == [.connect, .connect])
        #expect(recorders.map(\.failure?.message) == ["down", "down"])
        #expect(fixture.server.logins == 1)
        #expect(fixture.eventTexts.isEmpty)
        let later = fixture.get("/later")
        try fixture.clock.run()
        #expect(later.values == ["\"/later\""])
        #expect(fixture.server.logins == 2)
    }

    /// 3. a login is running → wait for it; new requests wait too and are sent once.
    @Test func waiting() throws {
        let fixture = LoginFixture()
        let first = fixture.get("/1")
        try fixture.clock.advance(by: .milliseconds(5))
        let second = fixture.get("/2")
        try fixture.clock.run()
        #expect(first.isFinished && second.isFinished)
        #expect(fixture.lines == ["GET /1 old", "POST /login -", "GET /1 t1", "GET /2 t1"])
        #expect(fixture.transport.exchanges.map(\.startedAt) == [0, 1, 11, 11].map { .milliseconds($0) })
    }

    /// Cancelling a waiting request affects no other.
    @Test func cancelOne() throws {
        let fixture = LoginFixture()
        let recorders = (0..<3).map { fixture.get("/\($0)") }
        try fixture.clock.advance(by: .milliseconds(5))
        // The first is the one that started the login.
        recorders[0].cancel()
        try fixture.clock.run()
        #expect(recorders.map(\.events.count) == [0, 2, 2])
        #expect(fixture.lines.suffix(2) == ["GET /1 t1", "GET /2 t1"])
    }

    /// A token that arrives is stored even if no request waits for it any more.
    @Test func cancelAll() throws {
        let fixture = LoginFixture()
        let recorders = (0..<3).map { fixture.get("/\($0)") }
        try fixture.clock.advance(by: .milliseconds(5))
        for recorder in recorders { recorder.cancel() }
        try fixture.clock.run()
        #expect(fixture.session.credential?.token == "t1")
        #expect(fixture.transport.cancelled.isEmpty)
        #expect(fixture.lines.count == 4)
        let later = fixture.get("/later")
        try fixture.clock.run()
        #expect(later.isFinished)
        #expect(fixture.server.logins == 1)
    }

    /// One replay per request; a second failure is surfaced.
    @Test func secondFailure() throws {
        let fixture = LoginFixture()
        fixture.server.contents.withLock {
            $0.answers["/1"] = [.status(.unauthorized), .json(#"{"message": "no"}"#, status: .unauthorized)]
        }
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.code == .status)
        #expect(recorder.failure?.message == "no")
        #expect(recorder.failure?.attempt == 2)
        #expect(fixture.lines == ["GET /1 old", "POST /login -", "GET /1 t1"])
    }

    /// One replay per request, also across retries.
    @Test func oneReplayAcrossRetries() throws {
        let fixture = LoginFixture(retry: .exponentialBackoff(backoff: .constant(.milliseconds(5))))
        fixture.server.contents.withLock {
            $0.answers["/1"] = [
                .status(.unauthorized), .status(.serviceUnavailable), .status(.unauthorized), .json("1"),
            ]
        }
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.status == .unauthorized)
        #expect(recorder.failure?.attempt == 3)
        #expect(fixture.lines == ["GET /1 old", "POST /login -", "GET /1 t1", "GET /1 t1"])
        #expect(Set(fixture.transport.requests.filter { $0.method == .get }.map(\.id)).count == 1)
    }

    /// 403 is not 401.
    @Test(arguments: [HTTPResponse.Status.forbidden, .notFound, .proxyAuthenticationRequired])
    func forbidden(status: HTTPResponse.Status) throws {
        let fixture = LoginFixture()
        fixture.server.contents.withLock { $0.answers["/1"] = [.status(status)] }
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.status == status)
        #expect(fixture.server.logins == 0)
    }

    /// An envelope code marks an expired login, in a success as well as in an error status.
    @Test(arguments: [200, 400])
    func envelopeCode(status: Int) throws {
        let fixture = LoginFixture(
            envelopeCodes: ["11010"],
            envelope: Envelope(code: "errcode", message: "msg", payload: "data", success: 200))
        let refusal = #"{"errcode": 11010, "msg": "expired"}"#
        fixture.server.contents.withLock {
            $0.answers["/1"] = [
                .json(refusal, status: HTTPResponse.Status(code: status)),
                .json(#"{"errcode": "200", "data": 7}"#),
            ]
        }
        let recorder = Recorder(fixture.client.get("/1").decode(Int.self), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.values == [7])
        #expect(fixture.server.logins == 1)
    }

    /// Waiting requests keep their own deadlines.
    @Test func deadlines() throws {
        let fixture = LoginFixture()
        let hurried = Hurried(path: "/1", timeouts: Timeouts(total: .milliseconds(5)))
        let first = Recorder(fixture.client.request(hurried), on: fixture.clock)
        let second = fixture.get("/2")
        try fixture.clock.run()
        #expect(first.failure?.code == .totalTimeout)
        #expect(first.events.map(\.time) == [.milliseconds(5)])
        #expect(second.isFinished)
        #expect(fixture.session.credential?.token == "t1")
    }

    /// By hand: response, retry, unwrap, relogin, decode.
    @Test func byHand() throws {
        let fixture = LoginFixture()
        let stream = fixture.client.response(.get("/1"))
            .retry(.exponentialBackoff(backoff: .constant(.seconds(1))))
            .unwrap(nil)
            .relogin(through: fixture.session)
            .decode(String.self)
        fixture.server.contents.withLock { $0.answers["/1"] = [.status(.serviceUnavailable)] }
        let recorder = Recorder(stream, on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.values == ["/1"])
        #expect(stream.scheduler === fixture.clock)
        #expect(fixture.lines == ["GET /1 old", "GET /1 old", "POST /login -", "GET /1 t1"])
    }

    /// A request that may be sent only once is not replayed: it fails with the first error, without a login.
    @Test func unreplayable() throws {
        let fixture = LoginFixture()
        let stream = fixture.client.response(.get("/1")).mapError { error in
            var error = error
            error.isReplayable = false
            return error
        }
        let recorder = Recorder(stream.relogin(through: fixture.session), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.failure?.status == .unauthorized)
        #expect(fixture.lines == ["GET /1 old"])
    }

    /// A session shared by two clients logs in once for both.
    @Test func twoClients() throws {
        let fixture = LoginFixture()
        let other = Client(configuration: fixture.client.configuration, transport: fixture.transport)
        let recorders = [fixture.get("/1"), Recorder(other.get("/2").map(\.text), on: fixture.clock)]
        try fixture.clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(fixture.server.logins == 1)
    }

    /// A second refusal fails the request; by choice it also ends the session, with its event.
    @Test func secondRefusal() throws {
        for logsOut in [false, true] {
            let fixture = LoginFixture(logsOutAfterSecondRefusal: logsOut)
            fixture.server.contents.withLock {
                for path in ["/1", "/2"] {
                    $0.answers[path] = Array(repeating: .status(.unauthorized), count: 9)
                }
            }
            let tips = Recorder(fixture.client.errorTips, on: fixture.clock)
            let recorders = [fixture.get("/1"), fixture.get("/2")]
            try fixture.clock.run()
            #expect(recorders.map { $0.failure?.code } == [.status, .status])
            #expect(fixture.server.logins == 1)
            let later = fixture.get("/3")
            try fixture.clock.run()
            if !logsOut {
                #expect(fixture.eventTexts == ["renewed"])
                #expect(later.values == ["\"/3\""])
                #expect(tips.values.count == 2)
            } else {
                #expect(fixture.eventTexts == ["renewed", "logged out status"])
                #expect(fixture.session.credential == nil)
                #expect(later.failure?.code == .loginExpired)
                #expect(later.failure?.cause?.status == .unauthorized)
                // The two requests failed for one reason, which is shown once; the third one began later.
                #expect(tips.values.map(\.code) == [.status, .loginExpired])
            }
            #expect(fixture.server.logins == 1)
        }
    }

    /// A refusal that a new login remedies does not end the session, nor does one of another kind.
    @Test func remediedRefusal() throws {
        let fixture = LoginFixture(logsOutAfterSecondRefusal: true)
        fixture.server.contents.withLock { $0.answers["/2"] = [.status(.unauthorized), .status(.notFound)] }
        let recorders = [fixture.get("/1"), fixture.get("/2")]
        try fixture.clock.run()
        #expect(recorders[0].values == ["\"/1\""])
        #expect(recorders[1].failure?.status == .notFound)
        #expect(fixture.eventTexts == ["renewed"])
        #expect(fixture.session.credential?.token == "t1")
    }
}

private struct Hurried: Endpoint {
    typealias Output = Response
    let path: String
    let method = HTTPRequest.Method.get
    let timeouts: Timeouts?
    var options: RequestOptions { RequestOptions(timeouts: timeouts) }
}

/// Responds at once, on the requesting thread.
struct ImmediateTransport: Transport {
    var scheduler: any Scheduler { ActorScheduler.shared }
    let server: TokenServer

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> {
        .deferred {
            let events = server.answer(request).steps.compactMap { step -> TransferEvent? in
                switch step {
                case .head(let head): .head(head)
                case .chunk(let bytes): .chunk(bytes)
                case .finish: .finished(TransferMetrics())
                default: nil
                }
            }
            return .sequence(events)
        }
    }
}
