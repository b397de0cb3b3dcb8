import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// Interceptors at each of the three places, for each kind of call.
@Suite struct InterceptorTests: InterceptorSuite {
    let clock = VirtualScheduler()

    @Test func aPlaceIsPassedOncePerCallAttemptAndExchange() throws {
        let notes = Notes()
        let script = Script([.status(503), .status(302, headers: [.location: "/there"]), .json("1")])
        let (client, _) = client({ _ in script.next() }) { configuration in
            configuration.options.interceptors = Interceptors(
                call: [Noting("call", notes)], attempt: [Noting("attempt", notes)],
                exchange: [Noting("exchange", notes)])
        }
        let own = RequestOptions(interceptors: Interceptors(call: [Noting("own", notes)]))
        #expect(try run(client.get("/x", options: own)).values.count == 1)
        #expect(
            notes.all == [
                "call GET /x", "own GET /x",
                "attempt GET /x", "exchange GET /x", "exchange 503", "attempt status",
                "attempt GET /x", "exchange GET /x", "exchange 302", "exchange GET /there", "exchange 200",
                "attempt 200", "own 200", "call 200",
            ])
    }

    static let kinds: [CallKind] = [.request, .progress, .response, .stream, .download, .events]

    private func start(_ kind: CallKind, _ client: Client) -> Observable<Void, NetworkError> {
        let options = RequestOptions(cachePolicy: kind == .request ? .http : nil)
        let endpoint = InlineEndpoint(.get, "/x", options: options)
        return switch kind {
        case .request: client.request(endpoint).map { _ in }
        case .progress: client.progress(of: endpoint).map { _ in }
        case .webSocket: client.webSocket(endpoint).map { _ in }
        case .response: client.response(endpoint).map { _ in }
        case .stream: client.stream(endpoint).map { _ in }
        case .download: client.download(endpoint, to: "/f").map { _ in }
        case .events: client.events(endpoint).take(1).map { _ in }
        case .exchange: .empty()
        }
    }

    @Test(arguments: kinds)
    func everyKindShowsItsHeadAndGoesOutAsItIsChanged(_ kind: CallKind) throws {
        let notes = Notes()
        let (client, transport) = client({ _ in .bytes([1], headers: [.contentType: "text/event-stream"]) }) {
            $0.options.interceptors = Interceptors(
                call: [Adding("A")], attempt: [Noting("attempt", notes), Adding("B")],
                exchange: [Noting("exchange", notes), Adding("C")])
        }
        _ = try run(start(kind, client))
        #expect(notes.all.contains("attempt 200") && notes.all.contains("exchange 200"))
        let sent = try #require(transport.requests.first)
        #expect(
            ["A", "B", "C"].allSatisfy { name in HTTPField.Name(name).map { sent.headerFields[$0] } == "yes" }
        )
    }

    @Test(arguments: kinds)
    func everyKindTellsAttemptsOfAnUnsuccessfulStatus(_ kind: CallKind) throws {
        let notes = Notes()
        let (client, _) = client({ _ in .status(503) }) {
            $0.options.retry = .never
            $0.options.interceptors = Interceptors(
                attempt: [Noting("attempt", notes)], exchange: [Noting("exchange", notes)])
        }
        #expect(try run(start(kind, client)).failure?.status == .serviceUnavailable)
        #expect(notes.all == ["attempt GET /x", "exchange GET /x", "exchange 503", "attempt status"])
    }

    /// A place and a kind of call.
    static let places = kinds.flatMap { kind in ["call", "attempt", "exchange"].map { (kind, $0) } }

    @Test(arguments: places)
    func eachPlaceCanRespondByItself(_ kind: CallKind, _ place: String) throws {
        let responding = Intercepting { request, _, next in
            let head = ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])
            return next.respond(with: Response(head: head, body: Array("data: 1\n\n".utf8), request: request))
        }
        let (client, transport) = client({ _ in .stall }) {
            switch place {
            case "call": $0.options.interceptors.call = [responding]
            case "attempt": $0.options.interceptors.attempt = [responding]
            default: $0.options.interceptors.exchange = [responding]
            }
        }
        let recorder = try run(start(kind, client))
        #expect(recorder.failure == nil && !recorder.values.isEmpty)
        #expect(transport.requests.isEmpty)
        if kind == .download {
            #expect((client.configuration.files as? MemoryFileSystem)?["/f"] == Array("data: 1\n\n".utf8))
        }
    }

    @Test func aResponseOfItsOwnGoesThroughTheEnvelope() throws {
        let responding = Intercepting { request, _, next in
            let body = Array(#"{"code": 7, "msg": "closed"}"#.utf8)
            return next.respond(with: Response(head: ResponseHead(status: .ok), body: body, request: request))
        }
        let (client, _) = client({ _ in .stall }) {
            $0.options.envelope = Envelope()
            $0.options.interceptors.call = [responding]
        }
        #expect(try run(client.get("/x")).failure?.code == .envelope)
    }

    @Test func itCanWaitGoOnAgainAndFail() throws {
        let script = Script([.json("1"), .json("2"), .json("3")])
        let waiting = Intercepting { request, call, next in
            Observable<Void, NetworkError>.timer(.seconds(2), on: call.scheduler).flatMap(.concat) {
                next(request)
            }
        }
        let twice = Intercepting { request, _, next in next(request).flatMap(.concat) { _ in next(request) } }
        let (patient, transport) = client({ _ in script.next() }) {
            $0.options.interceptors = Interceptors(call: [waiting], attempt: [twice])
        }
        #expect(try run(patient.get("/x").decode(Int.self)).values == [2])
        #expect(transport.exchanges.map(\.startedAt) == [.seconds(2), .seconds(2)])

        let failing = Intercepting { request, _, _ in
            .fail(NetworkError(.noContent, "closed", request: request))
        }
        let (closed, unused) = client({ _ in .json("1") }) { $0.options.interceptors.attempt = [failing] }
        #expect(try run(closed.get("/x")).failure?.code == .noContent)
        #expect(unused.requests.isEmpty)
    }

    @Test func valuesOfACallAreKeptForAllItsStages() throws {
        enum Count: CallValueKey { static var initial: Int { 0 } }
        let seen = Notes()
        let counting = Intercepting { request, call, next in
            call[Count.self] += 1
            seen.add(
                "\(call[Count.self]) of \(call.attempt), \(call.kind), \(call.tags.sorted()), \(call.endpoint != nil)"
            )
            return next(request)
        }
        let script = Script([.status(503), .json("1"), .json("1")])
        let (client, _) = client({ _ in script.next() }) { $0.options.interceptors.attempt = [counting] }
        for _ in 1...2 { _ = try run(client.get("/x", options: RequestOptions(tags: ["a"]))) }
        #expect(
            seen.all == [
                #"1 of 1, request, ["a"], true"#, #"2 of 2, request, ["a"], true"#,
                #"1 of 1, request, ["a"], true"#,
            ])
    }

    @Test func anEventThatNoSuchCallGivesIsAnError() throws {
        let wrong = Intercepting { _, _, _ in .just(.output("text")) }
        let (client, _) = client({ _ in .json("1") }) { $0.options.interceptors.call = [wrong] }
        #expect(try run(client.stream(.get("/x"))).failure?.code == .invalidResponse)
    }

    @Test func aSignatureIsOfWhatIsSent() throws {
        let (client, transport) = client({ _ in .json("1") }) {
            $0.signature = .headers { content in
                ["Sign": content.request.headerFields[.accept] ?? "none"]
            }
            $0.options.interceptors.call = [
                Intercepting { request, _, next in
                    var request = request
                    request.headerFields[.accept] = "text/tea"
                    return next(request)
                }
            ]
        }
        _ = try run(client.get("/x"))
        #expect(transport.requests.first?.headerFields[try #require(HTTPField.Name("Sign"))] == "text/tea")
    }

    @Test func thePipelineIsDescribedAsAList() throws {
        let (client, _) = client({ _ in .json("1") }) {
            $0.session = Session { .never() }
            $0.options.interceptors.call = [.idempotencyKeys()]
        }
        let own = RequestOptions(interceptors: Interceptors(exchange: [.contentDigestVerification()]))
        #expect(
            client.pipeline(for: .get("/x", options: own)) == """
                call
                  IdempotencyKeys
                  Deadline
                  Retrying
                  Relogin
                  ResponseValidation
                attempt
                  ServerSelection
                  Authorization
                  ResponseGathering
                  StatusCheck
                exchange
                  Redirects
                  CacheInvalidation
                  ContentDigestVerification
                  ExchangeTracing
                  Sending
                """)
        let bare = client.pipeline(for: .get("/x"), as: .exchange).split(separator: "\n").map {
            $0.drop { $0 == " " }
        }
        #expect(
            bare == [
                "call", "attempt", "exchange", "Redirects", "CacheInvalidation", "ExchangeTracing",
                "Sending",
            ])
    }

    /// A stage is in the list of the calls that have its rule.
    @Test func rulesBringTheirStages() throws {
        let (client, _) = client({ _ in .json("1") }) { _ in }
        func stages(_ options: RequestOptions = RequestOptions()) -> Set<Substring> {
            Set(
                client.pipeline(for: .get("/x", options: options)).split(separator: "\n").map { line in
                    line.drop { $0 == " " }
                })
        }
        let usual = stages()
        #expect(stages(RequestOptions(retry: .never)) == usual)
        #expect(
            stages(RequestOptions(cachePolicy: .http)).subtracting(usual)
                == ["StaleIfError", "Caching", "Revalidation"])
        #expect(
            stages(RequestOptions(timeouts: Timeouts(total: .seconds(9)))).subtracting(usual) == ["Deadline"])
        #expect(
            stages(RequestOptions(hedging: .after(.seconds(1)))).subtracting(usual) == ["HedgedAttempts"])
    }

    /// An interceptor may set a time limit that the call did not have.
    @Test func interceptorsMaySetTheDeadline() throws {
        let (client, _) = client({ _ in .stall }) {
            $0.options.interceptors.call = [
                Intercepting { request, _, next in
                    var request = request
                    request.timeouts.total = .seconds(2)
                    return next(request)
                }
            ]
        }
        let recorder = try run(client.get("/x"))
        #expect(recorder.failure?.code == .totalTimeout)
        #expect(clock.now == .seconds(2))
    }
}
