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
    /// The credential is stored before any replay.
    @Test func storedFirst() throws {
        let fixture = LoginFixture()
        let stored = Box<String>()
        let stream = fixture.client.get("/1").handleEvents()
        let probe = fixture.session.events.handleEvents(onNext: { _ in
            stored.value = "\(fixture.session.credential?.token ?? "-"), \(fixture.lines.count) sent"
        })
        probe.subscribe()
        stream.subscribe()
        try fixture.clock.run()
        #expect(stored.value == "t1, 2 sent")
    }

    /// A replay is signed anew, from the original request.
    @Test(arguments: [
        CredentialPlacement.bearer, .header("X-Token"), .query("token"), .parameter("token"),
        .cookie("token"),
        CredentialPlacement { credential, request throws(NetworkError) in
            try request.setField("X-Token", to: credential.token)
        },
    ])
    func signedAnew(placement: CredentialPlacement) throws {
        let fixture = LoginFixture(placement: placement)
        let recorder = fixture.get("/1?a=b")
        let posted = Recorder(
            fixture.client.post("/2", .json(["a": 1]), query: ["c": "d"]).map(\.text), on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.isFinished && posted.isFinished)
        #expect(
            fixture.lines == ["GET /1 old", "POST /2 old", "POST /login -", "GET /1 t1", "POST /2 t1"])
        #expect(fixture.transport.requests.map(\.body.count) == [0, 7, 0, 0, 7])
        #expect(fixture.transport.requests[3].url.query()?.hasPrefix("a=b") == true)
    }

    /// A token in the query replaces an existing one.
    @Test func queryTokenOnce() throws {
        let fixture = LoginFixture(credential: Credential(token: "t0 &+"), placement: .query("token"))
        fixture.server.contents.withLock { $0.token = "t0 &+" }
        let recorder = fixture.get("/1?token=old&a=b&token=older#f")
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(
            fixture.transport.requests.map(\.url.absoluteString) == [
                "https://shop.test/1?a=b&token=t0%20%26%2B"
            ])
    }

    /// A token that is not a valid header value is an error, and nothing is sent.
    @Test func illegalToken() throws {
        let fixture = LoginFixture(credential: Credential(token: "a\r\nX: y"))
        let recorder = fixture.get("/1")
        try fixture.clock.run()
        #expect(recorder.failure?.code == .invalidHeader)
        #expect(fixture.transport.requests.isEmpty)
    }

    /// A credential with an expiry date is renewed ahead of time; new requests wait meanwhile.
    @Test func renewAhead() throws {
        let now = LoginFixture.start
        let fixture = LoginFixture(credential: Credential(token: "t0", expires: now + 29))
        let recorders = (0..<3).map { fixture.get("/\($0)") }
        try fixture.clock.run()
        #expect(recorders.allSatisfy { $0.isFinished })
        #expect(fixture.lines == ["POST /login -", "GET /0 t1", "GET /1 t1", "GET /2 t1"])

        let fresh = LoginFixture(credential: Credential(token: "t0", expires: now + 31))
        let recorder = fresh.get("/1")
        try fresh.clock.run()
        #expect(recorder.isFinished)
        #expect(fresh.lines == ["GET /1 t0"])
    }

    /// If renewing ahead fails and the credential is still valid, it stays in use.
    @Test func renewAheadFailsInTime() throws {
        let now = LoginFixture.start
        let fixture = LoginFixture(credential: Credential(token: "t0", expires: now + 20))
        fixture.server.contents.withLock { $0.loginAnswers = [.failure(.connect)] }
        let recorders = (0..<3).map { fixture.get("/\($0)") }
        try fixture.clock.run()
        let later = fixture.get("/later")
        try fixture.clock.run()
        let all = recorders + [later]
        #expect(all.allSatisfy { $0.isFinished })
        #expect(fixture.server.logins == 1)
        #expect(fixture.lines.dropFirst() == ["GET /0 t0", "GET /1 t0", "GET /2 t0", "GET /later t0"])
    }

    /// A credential whose lifetime is shorter than the leeway is not renewed for every request.
    @Test func shortLife() throws {
        let now = LoginFixture.start
        let fixture = LoginFixture { client in
            LoginFixture.logIn(client).map { Credential(token: $0.token, expires: now + 20) }
        }
        for number in 0..<10 {
            let recorder = fixture.get("/\(number)")
            try fixture.clock.run()
            #expect(recorder.isFinished)
        }
        #expect(fixture.server.logins == 1)
    }

    /// A token that has expired on arrival, because the clocks differ, is used until the server refuses it.
    @Test func overOnArrival() throws {
        let fixture = LoginFixture { client in
            LoginFixture.logIn(client).map { Credential(token: $0.token, expires: LoginFixture.start - 300) }
        }
        for number in 0..<10 {
            let recorder = fixture.get("/\(number)")
            try fixture.clock.run()
            #expect(recorder.isFinished)
        }
        #expect(fixture.server.logins == 1)
        fixture.server.contents.withLock { $0.token = "another" }
        let recorder = fixture.get("/later")
        try fixture.clock.run()
        #expect(recorder.isFinished)
        #expect(fixture.server.logins == 2)
    }

    /// If renewing ahead fails, waiting requests fail, and the next request may try again.
    @Test func renewAheadFails() throws {
        let fixture = LoginFixture(credential: Credential(token: "t0", expires: .distantPast))
        fixture.server.contents.withLock { $0.loginAnswers = [.failure(.connect)] }
        let recorders = (0..<2).map { fixture.get("/\($0)") }
        try fixture.clock.run()
        #expect(recorders.map(\.failure?.code) == [.connect, .connect])
        let later = fixture.get("/later")
        try fixture.clock.run()
        #expect(later.isFinished)
    }
}
