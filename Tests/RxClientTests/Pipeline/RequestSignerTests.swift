import FoundationEssentials
import HTTPTypes
import RxClient
import RxCookies
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Synchronization
import Testing

/// The signer of a client: each exchange is signed anew, directly before it is sent.
@Suite struct RequestSignerTests: InterceptorSuite {
    let clock = VirtualScheduler()

    static let field = HTTPField.Name("X-Signed")!

    /// Numbers its signatures, and records what it is asked for.
    final class Numbering: RequestSigner {
        private struct Contents {
            var signed: [Request] = []
            var heads: [(status: Int, isRepeated: Bool)] = []
            var nonce: String?
        }

        private let contents = Mutex(Contents())
        private let repeats: @Sendable (ResponseHead) -> Bool
        private let otherOrigins: Set<String>

        init(
            otherOrigins: Set<String> = [],
            repeats: @escaping @Sendable (ResponseHead) -> Bool = { _ in false }
        ) {
            self.otherOrigins = otherOrigins
            self.repeats = repeats
        }

        var signed: [Request] { contents.withLock { $0.signed } }
        var heads: [(status: Int, isRepeated: Bool)] { contents.withLock { $0.heads } }

        func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
            let (count, nonce) = contents.withLock { contents in
                contents.signed.append(request)
                return (contents.signed.count, contents.nonce)
            }
            var request = request
            request.headerFields[RequestSignerTests.field] = "\(count)" + (nonce.map { " " + $0 } ?? "")
            return .just(request)
        }

        func receive(_ head: ResponseHead, to request: Request, in context: SigningContext) -> Bool {
            contents.withLock { contents in
                contents.heads.append((head.status.code, context.isRepeated))
                if let name = HTTPField.Name("X-Nonce"), let nonce = head[name] { contents.nonce = nonce }
            }
            return repeats(head)
        }

        func signsRequests(to origin: Origin) -> Bool { otherOrigins.contains(origin.host) }
    }

    /// A signer made of a closure.
    private struct Signing: RequestSigner {
        let body: @Sendable (Request, SigningContext) -> Observable<Request, NetworkError>

        func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
            body(request, context)
        }
    }

    private func signatures(_ transport: ScriptedTransport) -> [String?] {
        transport.requests.map { $0.headerFields[Self.field] }
    }

    private static let refusing = { @Sendable (head: ResponseHead) in head.status == .unauthorized }

    /// Retries and redirects are signed anew, from the request without a signature.
    @Test func eachExchange() throws {
        let signer = Numbering()
        let script = Script([
            .status(503), .status(302, headers: [.location: "/there"]), .failure(.connectionLost), .json("1"),
        ])
        let (client, transport) = client({ _ in script.next() }) { $0.signer = signer }
        #expect(try run(client.get("/x")).values.count == 1)
        #expect(signatures(transport) == ["1", "2", "3", "4"])
        #expect(signer.signed.allSatisfy { $0.headerFields[Self.field] == nil })
        #expect(signer.signed.map { $0.url.path() } == ["/x", "/x", "/there", "/x"])
        #expect(signer.heads.map(\.status) == [503, 302, 200])
    }

    /// A hedge and an attempt at the standby server have signatures of their own.
    @Test func parallelAttempts() throws {
        let signer = Numbering()
        let (client, transport) = client({ request in
            request.url.host() == "shop.test" ? .status(503, after: .seconds(2)) : .json("1")
        }) {
            $0.signer = signer
            $0.standbyURL = "https://b.test"
            $0.failoverProbeInterval = .seconds(30)
            $0.options.retry = .never
        }
        let options = RequestOptions(hedging: .after(.milliseconds(100)))
        _ = try run(client.get("/x", options: options))
        #expect(transport.requests.count >= 2)
        let sent = signatures(transport)
        #expect(Set(sent).count == sent.count && !sent.contains(nil))
    }

    /// The signer sees cookies and the fields of every interceptor, and they do not see its signature.
    @Test func innermost() throws {
        let signer = Numbering()
        let seen = Notes()
        let jar = CookieJar(publicSuffixes: .unknown)
        try jar.set("sid=1", from: #require(URL(string: "https://shop.test/")))
        let looking = Intercepting { request, _, next in
            next(request).handleEvents(onNext: { event in
                if case .transfer(.head) = event { seen.add("head") }
                if request.headerFields[Self.field] != nil { seen.add("signature") }
            })
        }
        let (client, _) = client({ _ in .json("1") }) {
            $0.signer = signer
            $0.cookies = jar
            $0.options.interceptors = Interceptors(
                call: [Adding("A")], attempt: [Adding("B")], exchange: [Adding("C"), looking])
        }
        let recorder = try run(client.get("/x"))
        let signed = try #require(signer.signed.first)
        for name in ["A", "B", "C", "Cookie"] {
            #expect(HTTPField.Name(name).flatMap { signed.headerFields[$0] } != nil)
        }
        #expect(seen.all == ["head"])
        #expect(recorder.values.first?.request.headerFields[Self.field] == nil)
        #expect(
            client.pipeline(for: .get("/x")).hasSuffix(
                "CookieHandling\n  Adding\n  Intercepting\n  Signing\n  ExchangeTracing\n  Sending"))
    }

    /// The signer may ask for one more exchange; the refused response is not seen.
    @Test func repeated() throws {
        let signer = Numbering(repeats: Self.refusing)
        let script = Script([
            .status(.unauthorized, headers: [HTTPField.Name("X-Nonce")!: "n1", .setCookie: "lb=2"]),
            .json("1", headers: [HTTPField.Name("X-Nonce")!: "n2"]), .json("2"),
        ])
        let notes = Notes()
        let jar = CookieJar(publicSuffixes: .unknown)
        let (client, transport) = client({ _ in script.next() }) {
            $0.signer = signer
            $0.cookies = jar
            $0.options.interceptors.exchange = [Noting("exchange", notes)]
        }
        #expect(try run(client.post("/x", .json(["a": 1]))).values.count == 1)
        #expect(try run(client.get("/y")).values.count == 1)
        #expect(signatures(transport) == ["1", "2 n1", "3 n2"])
        #expect(notes.all == ["exchange POST /x", "exchange 200", "exchange GET /y", "exchange 200"])
        #expect(signer.heads.map(\.isRepeated) == [false, true, false])
        #expect(transport.requests.map(\.attempt) == [1, 1, 1])
        #expect(jar.cookies.map(\.name) == ["lb"], "a refused response may set cookies")
    }

    /// An exchange is repeated once at most.
    @Test func onlyOnce() throws {
        let signer = Numbering(repeats: Self.refusing)
        let (client, transport) = client({ _ in .status(.unauthorized) }) { $0.signer = signer }
        #expect(try run(client.get("/x")).failure?.status == .unauthorized)
        #expect(signatures(transport) == ["1", "2"])
    }

    /// Each hop of a redirect may be repeated once.
    @Test func hops() throws {
        let signer = Numbering(repeats: Self.refusing)
        let script = Script([
            .status(.unauthorized), .status(302, headers: [.location: "/there"]), .status(.unauthorized),
            .json("1"),
        ])
        let (client, transport) = client({ _ in script.next() }) { $0.signer = signer }
        #expect(try run(client.get("/x")).values.count == 1)
        #expect(transport.requests.map { $0.url.path() } == ["/x", "/x", "/there", "/there"])
        #expect(signatures(transport) == ["1", "2", "3", "4"])
    }

    /// A body that can be sent once is sent once; the signer still sees the head.
    @Test func oneShotBodies() throws {
        let signer = Numbering(repeats: Self.refusing)
        let (client, transport) = client({ _ in .status(.unauthorized) }) { $0.signer = signer }
        let body = Body.stream(.just([1, 2, 3]), length: 3)
        #expect(try run(client.put("/x", .body(body))).failure?.status == .unauthorized)
        #expect(transport.requests.count == 1 && signer.heads.count == 1)
    }

    /// The rest of a long refused body is not awaited.
    @Test func longBodies() throws {
        let signer = Numbering(repeats: Self.refusing)
        let script = Script([
            .steps(
                .head(ResponseHead(status: .unauthorized)), .chunk([1]), .wait(.seconds(3600)), .chunk([2]),
                .finish),
            .json("1"),
        ])
        let (client, transport) = client({ _ in script.next() }) {
            $0.signer = signer
            $0.options.timeouts = Timeouts(idle: nil)
        }
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.advance(by: .seconds(1))
        #expect(recorder.values.count == 1)
        #expect(transport.exchanges.map(\.outcome) == [.cancelled, .finished])
    }

    /// A redirect to another origin goes without a signature, unless the signer serves that origin.
    @Test func otherOrigins() throws {
        for otherOrigins in [[], ["other.test"]] as [Set<String>] {
            let signer = Numbering(otherOrigins: otherOrigins)
            let script = Script([
                .status(302, headers: [.location: "https://other.test/x"]),
                .status(302, headers: [.location: "https://third.test/x"]),
                .status(302, headers: [.location: "https://shop.test/back"]), .json("1"),
            ])
            let (client, transport) = client({ _ in script.next() }) { $0.signer = signer }
            #expect(try run(client.get("/x")).values.count == 1)
            #expect(signatures(transport) == ["1", otherOrigins.isEmpty ? nil : "2", nil, nil])
        }
    }

    /// An endpoint can opt out.
    @Test func optOut() throws {
        let (client, transport) = client({ _ in .json("1") }) { $0.signer = Numbering() }
        _ = try run(client.get("/x", options: RequestOptions(isSigned: false)))
        #expect(signatures(transport) == [nil])
    }

    /// Requests built by hand are signed, for the client's servers.
    @Test func byHand() throws {
        let (client, transport) = client({ _ in .json("1") }) { $0.signer = Numbering() }
        for url in ["https://shop.test/x", "https://other.test/x"] {
            _ = try run(client.exchange(Request(url: #require(URL(string: url)))))
        }
        #expect(signatures(transport) == ["1", nil])
    }

    static let kinds: [CallKind] = [.request, .progress, .response, .stream, .download, .events]

    /// Every kind of call is signed, and may be repeated.
    @Test(arguments: kinds)
    func everyKind(_ kind: CallKind) throws {
        let signer = Numbering(repeats: Self.refusing)
        let script = Script([
            .status(.unauthorized),
            .bytes(Array("data: 1\n\n".utf8), headers: [.contentType: "text/event-stream"]),
        ])
        let (client, transport) = client({ _ in script.next() }) { $0.signer = signer }
        let endpoint = InlineEndpoint(.get, "/x")
        let stream: Observable<Void, NetworkError> =
            switch kind {
            case .progress: client.progress(of: endpoint).map { _ in }
            case .response: client.response(endpoint).map { _ in }
            case .stream: client.stream(endpoint).map { _ in }
            case .download: client.download(endpoint, to: "/f").map { _ in }
            case .events: client.events(endpoint).take(1).map { _ in }
            default: client.request(endpoint).map { _ in }
            }
        #expect(try run(stream).failure == nil)
        #expect(signatures(transport).prefix(2) == ["1", "2"])
    }

    /// A signer may wait, and the date is that of the moment when it is asked.
    @Test func waiting() throws {
        let notes = Notes()
        let signer = Signing { request, context in
            notes.add("\(context.date.timeIntervalSince1970)")
            return Observable<Request, NetworkError>.just(request).delay(.seconds(5), on: context.scheduler)
        }
        let (client, transport) = client({ _ in .json("1") }) { $0.signer = signer }
        let start = clock.date
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.advance(by: .seconds(4))
        #expect(transport.requests.isEmpty)
        try clock.advance(by: .seconds(2))
        #expect(recorder.values.count == 1)
        #expect(notes.all == ["\(start.timeIntervalSince1970)"])
    }

    /// Cancelling a request while its signer waits ends the signer's stream.
    @Test func cancelled() throws {
        let notes = Notes()
        let signer = Signing { _, _ in
            Observable.create { emitter in emitter.onClose { notes.add("closed") } }
        }
        let (client, transport) = client({ _ in .json("1") }) { $0.signer = signer }
        let recorder = Recorder(client.get("/x"), on: clock)
        try clock.advance(by: .seconds(1))
        recorder.cancel()
        #expect(notes.all == ["closed"] && transport.requests.isEmpty)
    }

    /// A signer that fails, ends without a request, or changes the origin fails the request.
    @Test func failures() throws {
        let signers: [(Signing, NetworkError.Code)] = [
            (Signing { _, _ in .fail(NetworkError(.loginFailed, "no key")) }, .loginFailed),
            (Signing { _, _ in .empty() }, .invalidConfiguration),
            (
                Signing { request, _ in
                    var request = request
                    request.url = URL(string: "https://other.test/x")!
                    return .just(request)
                }, .invalidURL
            ),
        ]
        for (signer, code) in signers {
            let (client, transport) = client({ _ in .json("1") }) { $0.signer = signer }
            let failure = try run(client.get("/x")).failure
            #expect(failure?.code == code && failure?.url?.path() == "/x")
            #expect(transport.requests.isEmpty)
        }
    }

    /// Logs, errors and exports do not show what a signer adds.
    @Test func secrets() throws {
        let signer = Signing { request, _ in
            var request = request
            request.headerFields[Self.field] = "cAnArY7"
            request.url = URL(string: request.url.absoluteString + "?mark=cAnArY7")!
            return .just(request)
        }
        let (client, transport) = client({ _ in .failure(.connectionLost) }) {
            $0.signer = signer
            $0.options.retry = .never
        }
        let traffic = Recorder(client.traffic, on: clock)
        let failure = try #require(try run(client.get("/x")).failure)
        let sent = try #require(transport.requests.first)
        #expect(sent.url.query() == "mark=cAnArY7" && sent.headerFields[Self.field] == "cAnArY7")
        for text in ["\(failure)", "\(sent)", sent.curlCommand()] + traffic.values.map({ "\($0)" }) {
            #expect(!text.contains("cAnArY7"))
        }
    }
}
