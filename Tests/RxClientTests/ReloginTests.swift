import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// The rules of SEMANTICS "Relogin", as requests see them.
@Suite struct ReloginTests {
    @Test("Any number of requests that fail at the same time cause one login", arguments: [1, 20, 1000])
    func oneLogin(count: Int) throws {
        let bench = LoginBench()
        let recorders = (0..<count).map { bench.get("/\($0)") }
        try bench.clock.run()
        #expect(bench.server.logins == 1)
        #expect(recorders.enumerated().allSatisfy { $1.values == ["\"/\($0)\""] && $1.isFinished })
        #expect(bench.transport.requests.count == 2 * count + 1)
        #expect(bench.eventTexts == ["renewed"])
        #expect(bench.session.credential?.token == "t1")
    }

    @Test("Many threads at once cause one login", .timeLimit(.minutes(1)))
    func threads() async throws {
        let server = TokenServer()
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        let transport = ImmediateTransport(server: server)
        let plain = Client(configuration: configuration, transport: transport)
        configuration.session = Session(credential: Credential(token: "old")) { LoginBench.logIn(plain) }
        let client = Client(configuration: configuration, transport: transport)
        let answered = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var count = 0
                    for index in 0..<50 {
                        let text = try? await client.get("/\(task)/\(index)").first()?.text
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

    @Test("1. the stamp is older than the current generation → replay at once, no login")
    func staleStamp() throws {
        let bench = LoginBench()
        bench.server.contents.withLock { $0.delays["/slow"] = .milliseconds(100) }
        let recorders = [bench.get("/slow"), bench.get("/fast")]
        try bench.clock.advance(to: .milliseconds(100))
        #expect(
            bench.lines == [
                "GET /slow old", "GET /fast old", "POST /login -", "GET /fast t1", "GET /slow t1",
            ])
        #expect(bench.transport.exchanges.last?.startedAt == .milliseconds(100))
        try bench.clock.run()
        #expect(recorders.map(\.values) == [["\"/slow\""], ["\"/fast\""]])
        #expect(bench.server.logins == 1)
    }

    @Test(
        "2. this generation's login has failed → the same error, no login; a later request may log in again")
    func failedGeneration() throws {
        let bench = LoginBench()
        bench.server.contents.withLock {
            $0.delays["/slow"] = .milliseconds(100)
            $0.loginAnswers = [.failure(.connect, "down", after: .milliseconds(10))]
        }
        let recorders = [bench.get("/fast"), bench.get("/slow")]
        try bench.clock.run()
        #expect(recorders.map(\.failure?.code) == [.connect, .connect])
        #expect(recorders.map(\.failure?.message) == ["down", "down"])
        #expect(bench.server.logins == 1)
        #expect(bench.eventTexts.isEmpty)
        let later = bench.get("/later")
        try bench.clock.run()
        #expect(later.values == ["\"/later\""])
        #expect(bench.server.logins == 2)
    }

    @Test("3. a login is running → wait for it; new requests wait too and are sent once")
    func waiting() throws {
        let bench = LoginBench()
        let first = bench.get("/1")
        try bench.clock.advance(by: .milliseconds(5))
        let second = bench.get("/2")
        try bench.clock.run()
        #expect(first.isFinished && second.isFinished)
        #expect(bench.lines == ["GET /1 old", "POST /login -", "GET /1 t1", "GET /2 t1"])
        #expect(bench.transport.exchanges.map(\.startedAt) == [0, 1, 11, 11].map { .milliseconds($0) })
    }

    @Test("Cancelling a waiter removes the waiter only")
    func cancelOne() throws {
        let bench = LoginBench()
        let recorders = (0..<3).map { bench.get("/\($0)") }
        try bench.clock.advance(by: .milliseconds(5))
        // The first is the one that started the login.
        recorders[0].cancel()
        try bench.clock.run()
        #expect(recorders.map(\.events.count) == [0, 2, 2])
        #expect(bench.lines.suffix(2) == ["GET /1 t1", "GET /2 t1"])
    }

    @Test("A token that arrives is kept even when nobody waits any more")
    func cancelAll() throws {
        let bench = LoginBench()
        let recorders = (0..<3).map { bench.get("/\($0)") }
        try bench.clock.advance(by: .milliseconds(5))
        for recorder in recorders { recorder.cancel() }
        try bench.clock.run()
        #expect(bench.session.credential?.token == "t1")
        #expect(bench.transport.cancelled.isEmpty)
        #expect(bench.lines.count == 4)
        let later = bench.get("/later")
        try bench.clock.run()
        #expect(later.isFinished)
        #expect(bench.server.logins == 1)
    }

    @Test("Requests made by the login bypass the session, also through the very client that has it")
    func bypass() throws {
        let box = Box<Client>()
        let bench = LoginBench { plain in
            (box.value ?? plain).get("/captcha").flatMap(.concat) { _ in
                LoginBench.logIn(box.value ?? plain)
            }
        }
        bench.server.contents.withLock { $0.answers["/captcha"] = [.json("1")] }
        box.value = bench.client
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(bench.lines == ["GET /1 old", "GET /captcha -", "POST /login -", "GET /1 t1"])
    }

    @Test("… and through observe(on:)")
    func bypassOnOtherSchedulers() throws {
        let box = Box<Client>()
        let other = VirtualScheduler()
        let bench = LoginBench { plain in
            LoginBench.logIn(box.value ?? plain).observe(on: other).delay(.zero)
        }
        box.value = bench.client
        let recorder = bench.get("/1")
        for _ in 0..<10 {
            try bench.clock.run()
            try other.run()
        }
        #expect(recorder.isFinished)
        #expect(bench.lines == ["GET /1 old", "POST /login -", "GET /1 t1"])
    }

    @Test("… and never trigger a login: a login that gets 401 has failed")
    func loginGets401() throws {
        let box = Box<Client>()
        let bench = LoginBench { plain in LoginBench.logIn(box.value ?? plain) }
        bench.server.contents.withLock { $0.loginAnswers = [.status(.unauthorized)] }
        box.value = bench.client
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.status == .unauthorized)
        #expect(recorder.failure?.url?.path == "/login")
        #expect(bench.server.logins == 1)
    }

    @Test("An endpoint that does not use the session neither carries a token nor logs in")
    func withoutSession() throws {
        let bench = LoginBench()
        var call = Call(.get, "/1")
        call.usesSession = false
        let recorder = Recorder(bench.client.request(call), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.failure?.status == .unauthorized)
        #expect(bench.lines == ["GET /1 -"])
    }

    @Test("One replay per request; a second failure is surfaced")
    func secondFailure() throws {
        let bench = LoginBench()
        bench.server.contents.withLock {
            $0.answers["/1"] = [.status(.unauthorized), .json(#"{"message": "no"}"#, status: .unauthorized)]
        }
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.code == .status)
        #expect(recorder.failure?.message == "no")
        #expect(recorder.failure?.attempt == 2)
        #expect(bench.lines == ["GET /1 old", "POST /login -", "GET /1 t1"])
    }

    @Test("One replay per request, also across retries")
    func oneReplayAcrossRetries() throws {
        let bench = LoginBench(retry: .exponentialBackoff(backoff: .constant(.milliseconds(5))))
        bench.server.contents.withLock {
            $0.answers["/1"] = [
                .status(.unauthorized), .status(.serviceUnavailable), .status(.unauthorized), .json("1"),
            ]
        }
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.status == .unauthorized)
        #expect(recorder.failure?.attempt == 3)
        #expect(bench.lines == ["GET /1 old", "POST /login -", "GET /1 t1", "GET /1 t1"])
        #expect(Set(bench.transport.requests.filter { $0.method == .get }.map(\.id)).count == 1)
    }

    @Test("At most 5 logins in 30 s, then an error that says so")
    func loginLimit() throws {
        let bench = LoginBench()
        bench.server.contents.withLock {
            $0.answers["/1"] = Array(repeating: .status(.unauthorized), count: 99)
        }
        for index in 1...7 {
            let recorder = bench.get("/1")
            try bench.clock.advance(by: .seconds(1))
            #expect(recorder.failure?.code == (index <= 5 ? .status : .loginExpired))
            if index > 5 { #expect(recorder.failure?.message.contains("5 logins within 30") == true) }
        }
        #expect(bench.server.logins == 5)
        try bench.clock.advance(to: .seconds(31))
        _ = bench.get("/1")
        try bench.clock.run()
        #expect(bench.server.logins == 6)
    }

    @Test("Rejected credentials: waiters fail once each, one logged-out event, session cleared")
    func rejected() throws {
        let bench = LoginBench()
        bench.server.contents.withLock {
            $0.loginAnswers = [.json(#"{"message": "wrong password"}"#, status: .forbidden)]
        }
        let recorders = (0..<20).map { bench.get("/\($0)") }
        try bench.clock.run()
        #expect(recorders.allSatisfy { $0.events.count == 1 && $0.failure?.message == "wrong password" })
        #expect(bench.eventTexts == ["logged out status"])
        #expect(bench.session.credential == nil)

        let later = bench.get("/later")
        try bench.clock.run()
        #expect(later.failure?.message == "wrong password")
        #expect(bench.server.logins == 1, "later requests do not log in")
        #expect(bench.eventTexts.count == 1)
        #expect(bench.lines.last == "GET /later -")

        bench.session.logIn(with: Credential(token: "t0"))
        let again = bench.get("/again")
        try bench.clock.run()
        #expect(again.isFinished)
    }

    @Test(
        "A network failure or 5xx during login: waiters fail, the session is kept",
        arguments: [
            ScriptedTransport.Answer.failure(.connect), .failure(.attemptTimeout), .status(.badGateway),
            .status(.tooManyRequests), .json("no token here"), .failure(.partialBody),
        ])
    func loginUnreachable(answer: ScriptedTransport.Answer) throws {
        let bench = LoginBench()
        bench.server.contents.withLock { $0.loginAnswers = [answer] }
        let recorders = (0..<3).map { bench.get("/\($0)") }
        try bench.clock.run()
        #expect(recorders.allSatisfy { $0.events.count == 1 && $0.failure != nil })
        #expect(bench.session.credential?.token == "old")
        #expect(bench.eventTexts.isEmpty)
        let later = bench.get("/later")
        try bench.clock.run()
        #expect(later.isFinished)
        #expect(bench.server.logins == 2)
    }

    @Test("A login stream that ends without a value is a failed login")
    func emptyLogin() throws {
        let bench = LoginBench { _ in .empty() }
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.code == .noContent)
        #expect(bench.session.credential?.token == "old")
        #expect(bench.eventTexts.isEmpty)
    }

    @Test("A login that answers at once, and one that never ends after its value")
    func synchronousLogin() throws {
        for login: Observable<Credential, NetworkError> in [
            .just(Credential(token: "t0")),
            .concat([.just(Credential(token: "t0")), .just(Credential(token: "second")), .never()]),
        ] {
            let bench = LoginBench { _ in login }
            let recorders = (0..<3).map { bench.get("/\($0)") }
            try bench.clock.run()
            #expect(recorders.allSatisfy { $0.values.count == 1 && $0.isFinished })
            #expect(bench.eventTexts == ["renewed"])
            #expect(bench.session.credential?.token == "t0")
        }
    }

    @Test("Without a credential the first request that the server refuses logs in")
    func noCredential() throws {
        let bench = LoginBench(credential: nil)
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(bench.lines == ["GET /1 -", "POST /login -", "GET /1 t1"])
    }

    @Test(
        "403 is not 401", arguments: [HTTPResponse.Status.forbidden, .notFound, .proxyAuthenticationRequired])
    func forbidden(status: HTTPResponse.Status) throws {
        let bench = LoginBench()
        bench.server.contents.withLock { $0.answers["/1"] = [.status(status)] }
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.status == status)
        #expect(bench.server.logins == 0)
    }

    @Test(
        "An envelope code is a signal of expiry, in a success as in an error status", arguments: [200, 400])
    func envelopeCode(status: Int) throws {
        let bench = LoginBench(
            expiry: .unauthorized(envelopeCodes: ["11010"]),
            envelope: Envelope(code: "errcode", message: "msg", payload: "data", success: 200))
        let refusal = #"{"errcode": 11010, "msg": "expired"}"#
        bench.server.contents.withLock {
            $0.answers["/1"] = [
                .json(refusal, status: HTTPResponse.Status(code: status)),
                .json(#"{"errcode": "200", "data": 7}"#),
            ]
        }
        let recorder = Recorder(bench.client.get("/1").decode(Int.self), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.values == [7])
        #expect(bench.server.logins == 1)
    }

    @Test("The credential is stored before any replay")
    func storedFirst() throws {
        let bench = LoginBench()
        let stored = Box<String>()
        let stream = bench.client.get("/1").handleEvents()
        let probe = bench.session.events.handleEvents(onNext: { _ in
            stored.value = "\(bench.session.credential?.token ?? "-"), \(bench.lines.count) sent"
        })
        probe.subscribe()
        stream.subscribe()
        try bench.clock.run()
        #expect(stored.value == "t1, 2 sent")
    }

    @Test(
        "A replay is signed anew from the original request",
        arguments: [
            CredentialPlacement.bearer, .header("X-Token"), .query("token"),
            CredentialPlacement { credential, request throws(NetworkError) in
                try request.setField("X-Token", to: credential.token)
            },
        ])
    func signedAnew(placement: CredentialPlacement) throws {
        let bench = LoginBench(placement: placement)
        let recorder = bench.get("/1?a=b")
        let posted = Recorder(
            bench.client.post("/2", .json(["a": 1]), query: ["c": "d"]).map(\.text), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.isFinished && posted.isFinished)
        #expect(
            bench.lines == ["GET /1 old", "POST /2 old", "POST /login -", "GET /1 t1", "POST /2 t1"])
        #expect(bench.transport.requests.map(\.body.count) == [0, 7, 0, 0, 7])
        #expect(bench.transport.requests[3].url.query()?.hasPrefix("a=b") == true)
    }

    @Test("A token in the query takes the place of one that is there")
    func queryTokenOnce() throws {
        let bench = LoginBench(credential: Credential(token: "t0 &+"), placement: .query("token"))
        bench.server.contents.withLock { $0.token = "t0 &+" }
        let recorder = bench.get("/1?token=old&a=b&token=older#f")
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(
            bench.transport.requests.map(\.url.absoluteString) == [
                "https://shop.test/1?a=b&token=t0%20%26%2B"
            ])
    }

    @Test("A token that is no header value is an error, and nothing is sent")
    func illegalToken() throws {
        let bench = LoginBench(credential: Credential(token: "a\r\nX: y"))
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.code == .invalidHeader)
        #expect(bench.transport.requests.isEmpty)
    }

    @Test("Waiters keep their own deadlines")
    func deadlines() throws {
        let bench = LoginBench()
        let hurried = Hurried(path: "/1", timeouts: Timeouts(total: .milliseconds(5)))
        let first = Recorder(bench.client.request(hurried), on: bench.clock)
        let second = bench.get("/2")
        try bench.clock.run()
        #expect(first.failure?.code == .totalTimeout)
        #expect(first.events.map(\.time) == [.milliseconds(5)])
        #expect(second.isFinished)
        #expect(bench.session.credential?.token == "t1")
    }

    @Test("A credential that knows its expiry is renewed ahead of time; new requests wait meanwhile")
    func renewAhead() throws {
        let now = Date(timeIntervalSince1970: 1000)
        let bench = LoginBench(credential: Credential(token: "t0", expires: now + 29), date: now)
        let recorders = (0..<3).map { bench.get("/\($0)") }
        try bench.clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(bench.lines == ["POST /login -", "GET /0 t1", "GET /1 t1", "GET /2 t1"])

        let fresh = LoginBench(credential: Credential(token: "t0", expires: now + 31), date: now)
        let recorder = fresh.get("/1")
        try fresh.clock.run()
        #expect(recorder.isFinished)
        #expect(fresh.lines == ["GET /1 t0"])
    }

    @Test("When renewing ahead fails those who wait fail, and the next may try again")
    func renewAheadFails() throws {
        let bench = LoginBench(credential: Credential(token: "t0", expires: .distantPast))
        bench.server.contents.withLock { $0.loginAnswers = [.failure(.connect)] }
        let recorders = (0..<2).map { bench.get("/\($0)") }
        try bench.clock.run()
        #expect(recorders.map(\.failure?.code) == [.connect, .connect])
        let later = bench.get("/later")
        try bench.clock.run()
        #expect(later.isFinished)
    }

    @Test("By hand: response, retry, unwrap, relogin, decode")
    func byHand() throws {
        let bench = LoginBench()
        let stream = bench.client.response(Call(.get, "/1"))
            .retry(.exponentialBackoff(backoff: .constant(.seconds(1))))
            .unwrap(nil)
            .relogin(through: bench.session)
            .decode(String.self)
        bench.server.contents.withLock { $0.answers["/1"] = [.status(.serviceUnavailable)] }
        let recorder = Recorder(stream, on: bench.clock)
        try bench.clock.run()
        #expect(recorder.values == ["/1"])
        #expect(stream.scheduler === bench.clock)
        #expect(bench.lines == ["GET /1 old", "GET /1 old", "POST /login -", "GET /1 t1"])
    }

    @Test("What cannot be sent twice is not replayed: the first error stands, and nobody logs in")
    func unreplayable() throws {
        let bench = LoginBench()
        let stream = bench.client.response(Call(.get, "/1")).mapError { error in
            var error = error
            error.isReplayable = false
            return error
        }
        let recorder = Recorder(stream.relogin(through: bench.session), on: bench.clock)
        try bench.clock.run()
        #expect(recorder.failure?.status == .unauthorized)
        #expect(bench.lines == ["GET /1 old"])
    }

    @Test("A session shared by two clients logs in once for both")
    func twoClients() throws {
        let bench = LoginBench()
        let other = Client(configuration: bench.client.configuration, transport: bench.transport)
        let recorders = [bench.get("/1"), Recorder(other.get("/2").map(\.text), on: bench.clock)]
        try bench.clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(bench.server.logins == 1)
    }
}

private struct Hurried: Endpoint {
    typealias Output = Response
    let path: String
    let method = HTTPRequest.Method.get
    let timeouts: Timeouts?
}

/// Answers at once, on whichever thread asks.
private struct ImmediateTransport: Transport {
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
