import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// The limit of logins without success.
@Suite struct LoginLimitTests {
    @Test("At most 5 logins in 30 s, then an error that names the limit")
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

    @Test("A request that succeeds after a login resets the count")
    func helpfulLogins() throws {
        let bench = LoginBench()
        for index in 1...20 {
            bench.server.contents.withLock { $0.token = "unknown" }
            let recorder = bench.get("/\(index)")
            try bench.clock.advance(by: .milliseconds(100))
            #expect(recorder.isFinished)
        }
        #expect(bench.server.logins == 20)
    }

    @Test("… also one that had to wait for a renewal ahead of time, and a stream")
    func helpfulRenewals() throws {
        let clock = VirtualScheduler(startingAt: LoginBench.start)
        let bench = LoginBench(
            on: clock,
            login: { client in
                LoginBench.logIn(client).map { Credential(token: $0.token, expires: clock.date + 1) }
            })
        for index in 1...20 {
            let stream = bench.client.stream(.get("/\(index)")).map { _ in "" }
            let recorder = index % 2 == 0 ? bench.get("/\(index)") : Recorder(stream, on: clock)
            try clock.advance(by: .seconds(1))
            #expect(recorder.isFinished)
        }
        #expect(bench.server.logins == 20)
        #expect(bench.lines.count == 41, "the first is refused, the others renew ahead")
    }

    @Test("… by events and by a chain made by hand, too", arguments: [false, true])
    func helpfulLoginsElsewhere(byHand: Bool) throws {
        let bench = LoginBench()
        let client = bench.client
        let head = ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])
        for index in 1...20 {
            bench.server.contents.withLock {
                $0.token = "unknown"
                $0.answers["/events"] = [
                    .status(.unauthorized),
                    .steps(.head(head), .chunk(Array("data: \(index)\n\n".utf8)), .finish),
                ]
            }
            let stream =
                byHand
                ? client.response(.get("/1")).relogin(through: bench.session).map(\.text)
                : client.events(.get("/events")).messages().take(1).map(\.data)
            let recorder = Recorder(stream, on: bench.clock)
            try bench.clock.advance(by: .milliseconds(100))
            #expect(recorder.isFinished && recorder.failure == nil)
        }
        #expect(bench.server.logins == 20)
    }

    @Test("The app can set the limit")
    func chosenLimit() throws {
        let bench = LoginBench(loginLimit: LoginLimit(1, within: .seconds(10)))
        bench.server.contents.withLock {
            $0.answers["/1"] = Array(repeating: .status(.unauthorized), count: 99)
        }
        for second in [0, 9, 10] {
            try bench.clock.advance(to: .seconds(second))
            let recorder = bench.get("/1")
            try bench.clock.advance(by: .milliseconds(100))
            #expect(recorder.failure?.code == (second == 9 ? .loginExpired : .status))
        }
        #expect(bench.server.logins == 2)
    }
}
