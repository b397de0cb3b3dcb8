import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxCookies
import RxHTTP
import RxLite
import RxParameters
import RxTesting
@_spi(Reflection) import Swift
import Testing

/// Equality of requests: equal ones that are under way at the same time are sent once.
@Suite struct CacheSamenessTests {
    private let fixture = CacheFixture()
    private var clock: VirtualScheduler { fixture.clock }

    /// One property of a call, set to another value.
    struct Change: Sendable, CustomTestStringConvertible {
        let property: String
        let joins: Bool
        let change: @Sendable (inout InlineEndpoint) -> Void

        init(
            _ property: String, joins: Bool = false,
            _ change: @escaping @Sendable (inout InlineEndpoint) -> Void
        ) {
            self.property = property
            self.joins = joins
            self.change = change
        }

        var testDescription: String { property }
    }

    static let changes: [Change] = [
        Change("method") { $0.method = .head }, Change("path") { $0.path = "/other/{id}" },
        Change("pathValues") { $0.pathValues = ["id": 2] },
        Change("parameters") { $0.parameters = .query(["a": 2]) },
        Change("parameters") { $0.parameters = $0.parameters.query(["b": 2]) },
        Change("headers") { $0.options.headers = ["X": "2"] },
        Change("envelope") { $0.options.envelope = .absent },
        Change("contentTypes") { $0.options.contentTypes = .json },
        Change("part", joins: true) { $0.options.part = "b" },
        Change("retry") { $0.options.retry = .never },
        Change("isIdempotent") { $0.options.isIdempotent = true },
        Change("timeouts") { $0.options.timeouts = Timeouts(attempt: .seconds(2)) },
        Change("timeouts", joins: true) { $0.options.timeouts = Timeouts(total: .seconds(2)) },
        Change("usesParameterRewriting") { $0.options.usesParameterRewriting = false },
        Change("isSigned") { $0.options.isSigned = false }, Change("server") { $0.options.server = .main },
        Change("hedging") { $0.options.hedging = .after(.seconds(9)) },
        Change("usesSession") { $0.options.usesSession = false },
        Change("usesCookies") { $0.options.usesCookies = false },
        Change("cachePolicy") { $0.options.cachePolicy = .time(.seconds(9)) },
        Change("cacheMode") { $0.options.cacheMode = .reload },
        Change("compressesContent") { $0.options.compressesContent = true },
        Change("decodesContent") { $0.options.decodesContent = false },
        Change("continuePolicy") { $0.options.continuePolicy = .always },
        Change("presentation", joins: true) { $0.options.presentation = .hidden },
        Change("willStart", joins: true) { $0.options.willStart = { _ in } },
        Change("accessories", joins: true) { $0.options.accessories = [Accessory()] },
        Change("tags") { $0.options.tags = ["list"] },
        Change("interceptors", joins: true) { $0.options.interceptors.call = [.idempotencyKeys()] },
        Change("interceptors") { $0.options.interceptors.attempt = [.idempotencyKeys()] },
        Change("interceptors") { $0.options.interceptors.exchange = [.idempotencyKeys()] },
    ]

    private func client() -> (Client, ScriptedTransport) {
        fixture.client(
            .http, .when(nil, "*", .json(#"{"code":0,"data":{"b":1}}"#, after: .seconds(1)))
        ) {
            $0.options.envelope = Envelope()
            $0.session = Session(credential: Credential(token: "t"), clock: clock) { .never() }
            $0.cookies = CookieJar(publicSuffixes: .unknown)
            $0.rewriteParameters = { $0.adding(["version": 1]) }
            $0.signature = .headers { _ in ["Signature": "s"] }
        }
    }

    @Test(arguments: changes)
    func everythingThatShapesTheOutcomeMustBeEqual(_ change: Change) throws {
        let (client, transport) = client()
        let call = InlineEndpoint(.get, "/goods/{id}", at: ["id": 1])
        var other = call
        change.change(&other)
        for call in [call, other] { client.request(call).subscribe(onNext: { _ in }, onFailure: { _ in }) }
        try clock.run()
        #expect(transport.exchanges.count == (change.joins ? 1 : 2))
    }

    @Test func noPropertyIsForgotten() {
        let properties = fields(of: InlineEndpoint.self).subtracting(["options"])
            .union(fields(of: RequestOptions.Values.self))
        #expect(properties == Set(Self.changes.map(\.property)))
    }

    /// A mirror is empty, since it could show secrets.
    private func fields(of type: Any.Type) -> Set<String> {
        var fields: Set<String> = []
        _ = unsafe _forEachField(of: type) { name, _, _, _ in
            unsafe fields.insert(String(cString: name))
            return true
        }
        return fields
    }

    @Test func anEnvelopesFailureIsNobodyElsesSuccess() throws {
        let (client, _) = fixture.client(
            .http, .when(.get, "/goods", .json(#"{"code":7,"message":"no"}"#, after: .seconds(1)))
        ) { $0.options.envelope = Envelope() }
        var bare = InlineEndpoint(.get, "/goods")
        bare.options.envelope = .absent
        let opened = Recorder(client.request(.get("/goods")), on: clock)
        let whole = Recorder(client.request(bare), on: clock)
        try clock.run()
        #expect(opened.failure?.code == .envelope && whole.values.count == 1)
    }

    /// A policy of its own, which cannot be compared.
    private struct Patient: Endpoint, Hashable {
        typealias Output = Response
        let path: String
        var name = ""
        var method: HTTPRequest.Method { .get }
        var options: RequestOptions { RequestOptions(retry: .never, envelope: Envelope()) }
    }

    @Test(arguments: [("", 1), ("b", 2)])
    func equalEndpointsAreTheSame(_ name: String, _ count: Int) throws {
        let (client, transport) = client()
        client.request(Patient(path: "/goods")).subscribe(onNext: { _ in }, onFailure: { _ in })
        client.request(Patient(path: "/goods", name: name)).subscribe(onNext: { _ in }, onFailure: { _ in })
        try clock.run()
        #expect(transport.exchanges.count == count)
    }

    @Test func accountsJoinNobody() throws {
        let session = Session(credential: Credential(token: "a"), clock: clock) { .never() }
        let (client, transport) = fixture.client(.http, .when(nil, "*", .json("[1]", after: .seconds(1)))) {
            $0.session = session
        }
        client.get("/goods").subscribe()
        session.logIn(with: Credential(token: "b"))
        client.get("/goods").subscribe()
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer a", "Bearer b"])
    }

    private struct Signer: RequestSigner {
        func sign(_ request: Request, in context: SigningContext) -> Observable<Request, NetworkError> {
            var request = request
            request.headerFields[.init("X-Sign")!] = "s"
            return .just(request)
        }
    }

    /// The option switches a signer, too.
    @Test func aRequestToSignJoinsNoOther() throws {
        let (client, transport) = fixture.client(.http, .when(nil, "*", .json("[1]", after: .seconds(1)))) {
            $0.signer = Signer()
        }
        client.get("/goods", options: RequestOptions(isSigned: false)).subscribe()
        client.get("/goods").subscribe()
        client.get("/goods", options: RequestOptions(isSigned: true)).subscribe()
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.init("X-Sign")!] } == [nil, "s"])
    }

    @Test func cookiesThatWouldNotBeTheSameAreSentByThemselves() throws {
        let jar = CookieJar(publicSuffixes: .unknown)
        let (client, transport) = fixture.client(.http, .when(nil, "*", .json("[1]", after: .seconds(1)))) {
            $0.cookies = jar
        }
        let url = try #require(URL(string: "http://shop.test/"))
        for line in ["a=1; Path=/", "a=1; Path=/", "a=2; Path=/", "b=1; Path=/elsewhere"] {
            try jar.set(line, from: url)
            client.get("/goods").subscribe()
        }
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.cookie] } == ["a=1", "a=2"])
    }
}
