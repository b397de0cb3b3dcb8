import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxClient

/// Every stage of a request, in every situation of the checker.
@Suite struct ContractTests {
    struct Stage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let violations: @Sendable () async -> [ContractViolation]

        init<Output: Sendable>(
            _ name: String, isEager: Bool = false, isDeferred: Bool = false, isThrottled: Bool = false,
            _ apply: @escaping ContractChecker.Application<Output, NetworkError>
        ) {
            testDescription = name
            violations = {
                await ContractChecker.violations(isEager: isEager, isDeferred: isDeferred, apply)
                    // Time passes during a pause, so that other values are omitted.
                    .filter { !isThrottled || $0.rule != .sameAfterPause }
            }
        }
    }

    static let stages = [
        Stage("checkStatus") { source, _ in responses(source).checkStatus() },
        Stage("unwrap") { source, _ in responses(source).unwrap(Envelope()) },
        Stage("decode") { source, _ in responses(source).decode([String: Int].self) },
        Stage("decode failing") { source, _ in responses(source).decode([Int].self) },
        Stage("checkContentType") { source, _ in responses(source).checkContentType(.json) },
        Stage("part, validate") { source, _ in
            responses(source).part("a").validate { response throws(NetworkError) in
                if response.payloadPath.isEmpty { throw NetworkError(.noContent, "no part") }
            }
        },
        Stage("checkReachability") { source, _ in
            responses(source).checkReachability(by: ScriptedReachability(.wifi))
        },
        Stage("checkReachability, unreachable", isEager: true, isDeferred: true) { source, _ in
            responses(source).checkReachability(by: ScriptedReachability(.unreachable))
        },
        Stage("accompanied") { source, _ in
            responses(source).accompanied(by: [Accessory()], as: request, isWhole: false)
        },
        Stage("relogin, login saved") { source, clock in
            responses(source).relogin(
                through: Session(
                    store: CredentialFile("/c", on: MemoryFileSystem(on: clock, latency: .milliseconds(5))),
                    clock: clock
                ) { .just(Credential(token: "t")) })
        },
        Stage("relogin, login at once") { source, clock in
            responses(source).relogin(
                through: Session(clock: clock) { .just(Credential(token: "t")) })
        },
        Stage("relogin, login over time") { source, clock in
            responses(source).relogin(
                through: Session(clock: clock) {
                    .just(Credential(token: "t")).delay(.milliseconds(700), on: clock)
                })
        },
        Stage("relogin, login fails") { source, clock in
            responses(source).relogin(
                through: Session(clock: clock) { .fail(NetworkError(.connect, "down")) })
        },
        Stage("retry") { source, clock in
            responses(source).retry(.exponentialBackoff(backoff: .constant(.seconds(1))), on: clock)
        },
        Stage("circuitBreaker(_:)") { source, clock in
            responses(source).circuitBreaker(CircuitBreaker(clock: clock))
        },
        Stage("limited(by:)") { source, clock in
            let limits = RequestLimits(concurrency: 1, rate: .perSecond(10))
            return responses(source).limited(by: RequestLimiter(total: limits, clock: clock))
        },
        Stage("hedge(_:if:)") { source, _ in
            responses(source).hedge(.after(.milliseconds(1700)), if: true)
        },
        Stage("failover(to:through:)") { source, clock in
            var configuration = ClientConfiguration(baseURL: "https://a.test")
            configuration.failoverProbeInterval = .seconds(30)
            let client = Client(
                configuration: configuration, transport: ScriptedTransport(on: clock, []))
            return responses(source).failover(to: responses(source), through: client.servers)
        },
        Stage("response(to:)") { source, _ in
            var limited = request
            limited.bodyLimit = 1000
            return events(source, status: .ok).response(to: limited)
        },
        Stage("chunks()") { source, _ in events(source, status: .ok).chunks() },
        Stage("lines()") { source, _ in lines(source).lines() },
        Stage("jsonLines(_:)") { source, _ in lines(source).jsonLines(Int.self) },
        Stage("serverSentEvents()") { source, _ in
            lines(source, prefix: "data:", end: "\n\n").serverSentEvents()
        },
        Stage("afterHead(_:)") { source, _ in
            lines(source).afterHead { _, rest in rest.chunks() }
        },
        Stage("checkStatus(of:)") { source, _ in events(source, status: .ok).checkStatus(of: request) },
        Stage("checkStatus(of:), refused", isEager: true, isDeferred: true) { source, _ in
            events(source, status: .notFound).checkStatus(of: request)
        },
        Stage("downloadProgress()", isEager: true, isDeferred: true) { source, clock in
            lines(source).timed(by: clock).downloadProgress()
        },
        Stage("file(at:in:)", isEager: true, isDeferred: true, isThrottled: true) { source, clock in
            lines(source).timed(by: clock).file(at: "/f", in: MemoryFileSystem(on: clock))
        },
        Stage("send(_:following:)") { source, _ in
            Answering { _ in events(source, status: .ok) }.send(request, following: RedirectPolicy())
        },
        // The body of a redirect is read without emitting a value.
        Stage("send(_:following:), redirected", isDeferred: true) { source, _ in
            Answering { request in
                events(source, status: request.url.path == "/" ? .found : .ok)
            }.send(request, following: RedirectPolicy())
        },
    ]

    @Test(arguments: stages)
    func keepsTheContract(stage: Stage) async {
        let violations = await stage.violations()
        #expect(violations.isEmpty, "\(violations.map { "\($0)" }.prefix(5).joined(separator: "\n"))")
    }

    /// A request of the session's first generation.
    private static let request: Request = {
        var request = Request(url: URL(filePath: "/"))
        if let url = URL(string: "https://a.test/") { request.url = url }
        request.credentialVersion = CredentialVersion(accountNumber: 0, generation: 0)
        return request
    }()

    /// Each element as a response; the failure as an expired login.
    private static func responses(
        _ source: Observable<ContractElement, any Error>
    ) -> Observable<Response, NetworkError> {
        source
            .map { element in
                let body = #"{"code": 0, "data": \#(element.number)}"#
                return Response(head: ResponseHead(status: .ok), body: Array(body.utf8), request: request)
            }
            .mapError { _ in
                var error = NetworkError(.status, "expired", request: request)
                error.head = ResponseHead(status: .unauthorized)
                return error
            }
    }

    /// A head, and each element as a line.
    private static func lines(
        _ source: Observable<ContractElement, any Error>, prefix: String = "", end: String = "\n"
    ) -> Observable<TransferEvent, NetworkError> {
        source
            .map { element in .chunk(Array("\(prefix)\(element.number)\(end)".utf8)) }
            .mapError { _ in NetworkError(.connectionLost, "gone", request: request) }
            .startWith(.head(ResponseHead(status: .ok)))
    }

    /// The first element as the head, the others as the body.
    private static func events(
        _ source: Observable<ContractElement, any Error>, status: HTTPResponse.Status
    ) -> Observable<TransferEvent, NetworkError> {
        source
            .map { element in
                guard element.number == 0 else { return .chunk([UInt8(truncatingIfNeeded: element.number)]) }
                return .head(ResponseHead(status: status, headerFields: [.location: "/next"]))
            }
            .mapError { _ in NetworkError(.connectionLost, "gone", request: request) }
    }
}

extension Observable {
    /// The same stream with `clock` as its scheduler. Operators with time would otherwise use the machine's
    /// clock.
    fileprivate func timed(by clock: VirtualScheduler) -> Observable {
        Observable(scheduler: clock) { observer in self.subscribe(observer) }
    }
}

private struct Answering: Transport {
    var scheduler: any Scheduler { ActorScheduler.shared }
    let answer: @Sendable (Request) -> Observable<TransferEvent, NetworkError>

    func send(_ request: Request) -> Observable<TransferEvent, NetworkError> { answer(request) }
}
