import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// Credentials of requests.
@Suite struct CredentialTests {
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
        "A replay is signed anew, from the original request",
        arguments: [
            CredentialPlacement.bearer, .header("X-Token"), .query("token"), .parameter("token"),
            .cookie("token"),
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

    @Test("A token in the query replaces an existing one")
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

    @Test("A token that is not a valid header value is an error, and nothing is sent")
    func illegalToken() throws {
        let bench = LoginBench(credential: Credential(token: "a\r\nX: y"))
        let recorder = bench.get("/1")
        try bench.clock.run()
        #expect(recorder.failure?.code == .invalidHeader)
        #expect(bench.transport.requests.isEmpty)
    }

    @Test("A credential with an expiry date is renewed ahead of time; new requests wait meanwhile")
    func renewAhead() throws {
        let now = LoginBench.start
        let bench = LoginBench(credential: Credential(token: "t0", expires: now + 29))
        let recorders = (0..<3).map { bench.get("/\($0)") }
        try bench.clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(bench.lines == ["POST /login -", "GET /0 t1", "GET /1 t1", "GET /2 t1"])

        let fresh = LoginBench(credential: Credential(token: "t0", expires: now + 31))
        let recorder = fresh.get("/1")
        try fresh.clock.run()
        #expect(recorder.isFinished)
        #expect(fresh.lines == ["GET /1 t0"])
    }

    @Test("If renewing ahead fails and the credential is still valid, it stays in use")
    func renewAheadFailsInTime() throws {
        let now = LoginBench.start
        let bench = LoginBench(credential: Credential(token: "t0", expires: now + 20))
        bench.server.contents.withLock { $0.loginAnswers = [.failure(.connect)] }
        let recorders = (0..<3).map { bench.get("/\($0)") }
        try bench.clock.run()
        let later = bench.get("/later")
        try bench.clock.run()
        let all = recorders + [later]
        #expect(all.allSatisfy { $0.isFinished })
        #expect(bench.server.logins == 1)
        #expect(bench.lines.dropFirst() == ["GET /0 t0", "GET /1 t0", "GET /2 t0", "GET /later t0"])
    }

    @Test("A credential whose lifetime is shorter than the leeway is not renewed for every request")
    func shortLife() throws {
        let now = LoginBench.start
        let bench = LoginBench { client in
            LoginBench.logIn(client).map { Credential(token: $0.token, expires: now + 20) }
        }
        for number in 0..<10 {
            let recorder = bench.get("/\(number)")
            try bench.clock.run()
            #expect(recorder.isFinished)
        }
        #expect(bench.server.logins == 1)
    }

    @Test(
        "A token that has expired on arrival, because the clocks differ, is used until the server refuses it"
    )
    func overOnArrival() throws {
        let bench = LoginBench { client in
            LoginBench.logIn(client).map { Credential(token: $0.token, expires: LoginBench.start - 300) }
        }
        for number in 0..<10 {
            let recorder = bench.get("/\(number)")
            try bench.clock.run()
            #expect(recorder.isFinished)
        }
        #expect(bench.server.logins == 1)
        bench.server.contents.withLock { $0.token = "another" }
        let recorder = bench.get("/later")
        try bench.clock.run()
        #expect(recorder.isFinished)
        #expect(bench.server.logins == 2)
    }

    @Test("If renewing ahead fails, waiting requests fail, and the next request may try again")
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
}
