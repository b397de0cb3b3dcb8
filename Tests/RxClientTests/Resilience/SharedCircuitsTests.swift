import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxClient

/// The seam through which processes share circuits.
@Suite struct SharedCircuitsTests {
    /// Circuits whose answers come from the test.
    private final class Circuits: SharedCircuits {
        struct Contents {
            var reports: [CircuitBreaker.Change] = []
            var questions = 0
            /// `nil`: no answer.
            var answer: Result<Bool, NetworkError>? = .success(true)
        }

        let contents = Mutex(Contents())
        let news = Signal<CircuitBreaker.Change>()

        var reports: [CircuitBreaker.Change] { contents.withLock { $0.reports } }
        var questions: Int { contents.withLock { $0.questions } }

        func set(_ answer: Result<Bool, NetworkError>?) { contents.withLock { $0.answer = answer } }

        func report(_ change: CircuitBreaker.Change, of host: String) {
            contents.withLock { $0.reports.append(change) }
        }

        func changes(of host: String) -> Observable<CircuitBreaker.Change, Never> { news.observable }

        func mayProbe(_ host: String, for time: Duration) -> Observable<Bool, NetworkError> {
            .deferred { [self] in
                let answer = contents.withLock { contents in
                    contents.questions += 1
                    return contents.answer
                }
                switch answer {
                case .success(let mayProbe): return .just(mayProbe)
                case .failure(let error): return .fail(error)
                case nil: return .never()
                }
            }
        }
    }

    private let fixture = ResilienceFixture()
    private let circuits = Circuits()
    private var clock: VirtualScheduler { fixture.clock }

    private func client(_ answers: [ScriptedTransport.Reply]) -> (Client, ScriptedTransport) {
        fixture(
            {
                $0.circuitBreaker = CircuitBreaker.Policy(minimumRequests: 4, openDuration: .seconds(30))
                    .sharing(circuits)
            }, answers)
    }

    private static let failure = ScriptedTransport.Reply.status(.internalServerError)
    private static let opened = CircuitBreaker.Change.opened(for: .seconds(30))

    /// Changes of the circuit are reported; the probe needs the right to it, and closes the circuit.
    @Test func reports() throws {
        let (client, transport) = client(Array(repeating: Self.failure, count: 5) + [.json("1")])
        _ = try fixture.burst(4, client.get("/x"))
        #expect(circuits.reports == [Self.opened] && circuits.questions == 0)
        try clock.advance(by: .seconds(30))
        #expect(try fixture.outcome(client.get("/x"), within: .zero).failure?.code == .status)
        #expect(circuits.reports == [Self.opened, Self.opened] && circuits.questions == 1)
        try clock.advance(by: .seconds(30))
        #expect(try fixture.outcome(client.get("/x"), within: .zero).isFinished)
        #expect(circuits.reports == [Self.opened, Self.opened, .closed])
        #expect(transport.requests.count == 6)
        client.circuitBreaker()?.reset()
        #expect(circuits.reports.last == .closed && circuits.reports.count == 4)
    }

    /// Without the right nothing is sent, and it is asked for once a second at most.
    @Test func refused() throws {
        let (client, transport) = client([Self.failure])
        _ = try fixture.burst(4, client.get("/x"))
        try clock.advance(by: .seconds(30))
        circuits.set(.success(false))
        for _ in 0..<30 {
            let recorder = try fixture.outcome(client.get("/x"), within: .milliseconds(100))
            #expect(recorder.failure?.code == .circuitOpen)
        }
        #expect(transport.requests.count == 4)
        #expect((2...3).contains(circuits.questions), "\(circuits.questions)")
    }

    /// While one request waits for the answer, the others fail. One that is given up lets the next one ask.
    @Test func waiting() throws {
        let (client, transport) = client(Array(repeating: Self.failure, count: 4) + [.json("1")])
        _ = try fixture.burst(4, client.get("/x"))
        try clock.advance(by: .seconds(30))
        circuits.set(nil)
        let first = Recorder(client.get("/x"), on: clock)
        try clock.advance(by: .milliseconds(10))
        #expect(!first.isFinished && first.failure == nil)
        #expect(try fixture.outcome(client.get("/x"), within: .zero).failure?.code == .circuitOpen)
        first.cancel()
        // Those that cannot be asked do not decide.
        circuits.set(.failure(NetworkError(.connectionLost, "")))
        #expect(try fixture.outcome(client.get("/x"), within: .zero).isFinished)
        #expect(circuits.questions == 2 && transport.requests.count == 5)
    }

    /// The changes of others hold, and release, this process; its requests of before do not count then.
    @Test func followed() throws {
        let (client, transport) = client([.json("1")])
        let breaker = try #require(client.circuitBreaker())
        #expect(try fixture.outcome(client.get("/x"), within: .zero).isFinished)
        circuits.news.send(.opened(for: .seconds(10)))
        #expect(try fixture.outcome(client.get("/x"), within: .seconds(1)).failure?.code == .circuitOpen)
        circuits.news.send(.opened(for: .seconds(20)))
        circuits.news.send(.opened(for: .seconds(1)))
        #expect(breaker.state.value == .open(since: .zero, until: .seconds(21)))
        circuits.news.send(.closed)
        #expect(breaker.state.value == .closed)
        #expect(try fixture.outcome(client.get("/x"), within: .zero).isFinished)
        #expect(transport.requests.count == 2)
        #expect(circuits.reports.isEmpty)
    }

    /// The operator asks, too.
    @Test func streams() throws {
        let breaker = CircuitBreaker(
            CircuitBreaker.Policy(minimumRequests: 1).sharing(circuits), clock: clock)
        circuits.news.send(.opened(for: .seconds(10)))
        try clock.advance(by: .seconds(10))
        circuits.set(.success(false))
        let stream = Observable<Int, NetworkError>.just(1).circuitBreaker(breaker)
        #expect(try fixture.outcome(stream, within: .seconds(1)).failure?.code == .circuitOpen)
        circuits.set(.success(true))
        #expect(try fixture.outcome(stream, within: .zero).values == [1])
        #expect(breaker.state.value == .closed && circuits.questions == 2)
    }
}
