import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxLite
import RxTesting
@_spi(Reflection) import Swift
import Testing

/// Which requests are the same, so that those which are under way at the same time are sent once.
@Suite struct CacheSamenessTests {
    private let bench = CacheBench()
    private var clock: VirtualScheduler { bench.clock }

    /// One property of a call, set to something else.
    struct Change: Sendable, CustomTestStringConvertible {
        let property: String
        let joins: Bool
        let change: @Sendable (inout Call) -> Void

        init(_ property: String, joins: Bool = false, _ change: @escaping @Sendable (inout Call) -> Void) {
            self.property = property
            self.joins = joins
            self.change = change
        }

        var testDescription: String { property }
    }

    static let changes: [Change] = [
        Change("method") { $0.method = .head }, Change("path") { $0.path = "/other/{id}" },
        Change("pathValues") { $0.pathValues = ["id": 2] },
        Change("parameters") { $0.parameters = .query(["a": 2]) }, Change("query") { $0.query = ["b": 2] },
        Change("headers") { $0.headers = ["X": "2"] }, Change("envelope") { $0.envelope = .none },
        Change("contentTypes") { $0.contentTypes = .json }, Change("part", joins: true) { $0.part = "b" },
        Change("retry") { $0.retry = .never }, Change("isIdempotent") { $0.isIdempotent = true },
        Change("timeouts") { $0.timeouts = Timeouts(total: .seconds(2)) },
        Change("usesParameterRewriting") { $0.usesParameterRewriting = false },
        Change("isSigned") { $0.isSigned = false }, Change("server") { $0.server = .main },
        Change("hedging") { $0.hedging = .after(.seconds(9)) },
        Change("usesSession") { $0.usesSession = false }, Change("usesCookies") { $0.usesCookies = false },
        Change("cachePolicy") { $0.cachePolicy = .time(.seconds(9)) },
        Change("cacheMode") { $0.cacheMode = .reload },
        Change("compression") { $0.compression = .gzip },
        Change("decodesContent") { $0.decodesContent = false },
        Change("continuePolicy") { $0.continuePolicy = .always },
        Change("presentation", joins: true) { $0.presentation = .none },
        Change("tags") { $0.tags = ["list"] },
    ]

    private func client() -> (Client, ScriptedTransport) {
        bench.client(
            .http, .when(nil, "*", .json(#"{"code":0,"data":{"b":1}}"#, after: .seconds(1)))
        ) {
            $0.envelope = Envelope()
            $0.session = Session(credential: Credential(token: "t"), clock: clock) { .never() }
            $0.cookies = CookieJar(publicSuffixes: .unknown)
            $0.rewriteParameters = { $0.adding(["version": 1]) }
            $0.signature = Signature { _ in .headers(["Signature": "s"]) }
        }
    }

    @Test(arguments: changes)
    func everythingThatShapesTheOutcomeMustBeEqual(_ change: Change) throws {
        let (client, transport) = client()
        let call = Call(.get, "/goods/{id}", at: ["id": 1])
        var other = call
        change.change(&other)
        for call in [call, other] { client.request(call).subscribe(onNext: { _ in }, onFailure: { _ in }) }
        try clock.run()
        #expect(transport.exchanges.count == (change.joins ? 1 : 2))
    }

    @Test func noPropertyIsForgotten() {
        // A mirror of a call shows nothing, since a call may hold secrets.
        var properties: [String] = []
        _ = unsafe _forEachField(of: Call.self) { name, _, _, _ in
            unsafe properties.append(String(cString: name))
            return true
        }
        #expect(Set(properties) == Set(Self.changes.map(\.property)))
    }

    @Test func anEnvelopesFailureIsNobodyElsesSuccess() throws {
        let (client, _) = bench.client(
            .http, .when(.get, "/goods", .json(#"{"code":7,"message":"no"}"#, after: .seconds(1)))
        ) { $0.envelope = Envelope() }
        var bare = Call(.get, "/goods")
        bare.envelope = .none
        let opened = Recorder(client.request(Call(.get, "/goods")), on: clock)
        let whole = Recorder(client.request(bare), on: clock)
        try clock.run()
        #expect(opened.failure?.code == .envelope && whole.values.count == 1)
    }

    /// With a policy of its own, which nobody can compare.
    private struct Patient: Endpoint, Hashable {
        typealias Output = Response
        let path: String
        var name = ""
        var method: HTTPRequest.Method { .get }
        var retry: RetryPolicy<NetworkError>? { .never }
        var envelope: EnvelopeChoice { .custom(Envelope()) }
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
        let (client, transport) = bench.client(.http, .when(nil, "*", .json("[1]", after: .seconds(1)))) {
            $0.session = session
        }
        client.get("/goods").subscribe()
        session.logIn(with: Credential(token: "b"))
        client.get("/goods").subscribe()
        try clock.run()
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Bearer a", "Bearer b"])
    }

    @Test func cookiesThatWouldNotBeTheSameAreSentByThemselves() throws {
        let jar = CookieJar(publicSuffixes: .unknown)
        let (client, transport) = bench.client(.http, .when(nil, "*", .json("[1]", after: .seconds(1)))) {
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
