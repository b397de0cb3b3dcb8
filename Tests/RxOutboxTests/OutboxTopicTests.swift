#if Outbox
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxOutbox
import RxTesting
import Testing

/// Entries of which only the last one of a topic matters.
@Suite(.timeLimit(.minutes(3))) struct OutboxTopicTests {
    /// Only the last value of a topic is sent.
    @Test func topics() throws {
        let fixture = OutboxFixture()
        fixture.reachability.set(.unreachable)
        let outbox = try fixture.outbox()
        let first = try fixture.enqueue(outbox, 1, replacing: "settings")
        let progress = Recorder(first.progress, on: fixture.clock)
        for number in 2...5 { _ = try fixture.enqueue(outbox, number, replacing: "settings") }
        #expect(progress.values.map(text) == ["queued", "replaced"] && progress.isFinished)
        fixture.reachability.set(.wifi)
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.ledger.numbers == [5])
    }

    /// An entry that was being sent when a later one of its topic came is dropped once it has certainly not arrived, and
    /// repeated if it may have arrived.
    @Test(arguments: [NetworkError.Code.connect, .connectionLost])
    func topicsDuringAnAttempt(_ code: NetworkError.Code) throws {
        let fixture = OutboxFixture([.failure(code, after: .seconds(5))])
        let outbox = try fixture.outbox()
        let first = try fixture.enqueue(outbox, 1, replacing: "settings")
        let progress = Recorder(first.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        _ = try fixture.enqueue(outbox, 2, replacing: "settings")
        try fixture.clock.advance(by: .seconds(60))
        #expect(fixture.sent == (code == .connect ? [1, 2] : [1, 1, 2]))
        #expect(
            progress.values.map(text).last
                == (code == .connect ? "replaced" : "delivered Receipt(number: 1)"))
        #expect(progress.isFinished && fixture.store.entries.isEmpty)
    }

    /// A topic is that of an account: it neither replaces the entries of another one nor waits for them.
    @Test func topicsOfAccounts() throws {
        let session = Session()
        let fixture = OutboxFixture(session: session)
        let outbox = try fixture.outbox()
        fixture.reachability.set(.unreachable)
        session.logIn(with: Credential(token: "a", account: "anna"))
        _ = try fixture.enqueue(outbox, 1, replacing: "settings")
        session.logIn(with: Credential(token: "b", account: "ben"))
        _ = try fixture.enqueue(outbox, 2, replacing: "settings")
        fixture.reachability.set(.wifi)
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.sent == [2])
        session.logIn(with: Credential(token: "a", account: "anna"))
        try fixture.clock.advance(by: .seconds(10))
        #expect(fixture.sent == [2, 1])
    }

    /// An entry that is refused while a later one of its topic waits is replaced by it, and does not block it.
    @Test func refusedTopics() throws {
        let fixture = OutboxFixture([.status(.badRequest, after: .seconds(5))])
        let outbox = try fixture.outbox()
        let first = try fixture.enqueue(outbox, 1, order: "a", replacing: "settings")
        let progress = Recorder(first.progress, on: fixture.clock)
        try fixture.clock.advance(by: .seconds(1))
        _ = try fixture.enqueue(outbox, 2, order: "a", replacing: "settings")
        try fixture.clock.advance(by: .seconds(60))
        #expect(fixture.ledger.numbers == [2])
        #expect(progress.values.last.map(text) == "replaced")
    }
}
#endif
