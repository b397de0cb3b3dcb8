import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// The limit of logins without success.
@Suite struct LoginAttemptLimitTests {
    /// At most 5 logins in 30 s, then an error that names the limit.
    @Test func loginAttemptLimit() throws {
        let fixture = LoginFixture()
        fixture.server.contents.withLock {
            $0.answers["/1"] = Array(repeating: .status(.unauthorized), count: 99)
        }
        for index in 1...7 {
            let recorder = fixture.get("/1")
            try fixture.clock.advance(by: .seconds(1))
            #expect(recorder.failure?.code == (index <= 5 ? .status : .loginExpired))
            if index > 5 { #expect(recorder.failure?.message.contains("5 logins within 30") == true) }
        }
        #expect(fixture.server.logins == 5)
        try fixture.clock.advance(to: .seconds(31))
        _ = fixture.get("/1")
        try fixture.clock.run()
        #expect(fixture.server.logins == 6)
    }

    /// A request that succeeds after a login resets the count.
    @Test func helpfulLogins() throws {
        let fixture = LoginFixture()
        for index in 1...20 {
            fixture.server.contents.withLock { $0.token = "unknown" }
            let recorder = fixture.get("/\(index)")
            try fixture.clock.advance(by: .milliseconds(100))
            #expect(recorder.isFinished)
        }
        #expect(fixture.server.logins == 20)
    }

    /// … also one that had to wait for a renewal ahead of time, and a stream.
    @Test func helpfulRenewals() throws {
        let clock = VirtualScheduler(startingAt: LoginFixture.start)
        let fixture = LoginFixture(
            on: clock,
            login: { client in
                LoginFixture.logIn(client).map { Credential(token: $0.token, expires: clock.date + 1) }
            })
        for index in 1...20 {
            let stream = fixture.client.stream(.get("/\(index)")).map { _ in "" }
            let recorder = index % 2 == 0 ? fixture.get("/\(index)") : Recorder(stream, on: clock)
            try clock.advance(by: .seconds(1))
            #expect(recorder.isFinished)
        }
        #expect(fixture.server.logins == 20)
        #expect(fixture.lines.count == 41, "the first is refused, the others renew ahead")
    }

    /// … by events and by a chain made by hand, too.
    @Test(arguments: [false, true])
    func helpfulLoginsElsewhere(byHand: Bool) throws {
        let fixture = LoginFixture()
        let client = fixture.client
        let head = ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])
        for index in 1...20 {
            fixture.server.contents.withLock {
                $0.token = "unknown"
                $0.answers["/events"] = [
                    .status(.unauthorized),
                    .steps(.head(head), .chunk(Array("data: \(index)\n\n".utf8)), .finish),
                ]
            }
            let stream =
                byHand
                ? client.response(.get("/1")).relogin(through: fixture.session).map(\.text)
                : client.events(.get("/events")).messages().take(1).map(\.data)
            let recorder = Recorder(stream, on: fixture.clock)
            try fixture.clock.advance(by: .milliseconds(100))
            #expect(recorder.isFinished && recorder.failure == nil)
        }
        #expect(fixture.server.logins == 20)
    }

    /// The app can set the limit.
    @Test func chosenLimit() throws {
        let fixture = LoginFixture(loginAttemptLimit: 1, loginAttemptWindow: .seconds(10))
        fixture.server.contents.withLock {
            $0.answers["/1"] = Array(repeating: .status(.unauthorized), count: 99)
        }
        for second in [0, 9, 10] {
            try fixture.clock.advance(to: .seconds(second))
            let recorder = fixture.get("/1")
            try fixture.clock.advance(by: .milliseconds(100))
            #expect(recorder.failure?.code == (second == 9 ? .loginExpired : .status))
        }
        #expect(fixture.server.logins == 2)
    }
}
