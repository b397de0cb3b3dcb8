import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxCookies
import RxHTTP
import RxLite
import RxTesting
import TestCookies
import Testing

/// A client measures everything by its clock, so that virtual time is complete.
@Suite struct VirtualTimeTests {
    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 784_111_777))

    private func client(
        _ answers: ScriptedTransport.Reply..., configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> (Client, ScriptedTransport) {
        var configuration = ClientConfiguration(baseURL: "http://a.test")
        configuration.options.retry = .never
        configure(&configuration)
        let book = Script(answers)
        let transport = ScriptedTransport(on: clock) { _ in book.next() }
        return (Client(configuration: configuration, transport: transport), transport)
    }

    /// Dates move with the clock.
    @Test func dates() throws {
        #expect(clock.currentDate == Date(timeIntervalSince1970: 784_111_777))
        try clock.advance(by: .milliseconds(1500))
        #expect(clock.currentDate == Date(timeIntervalSince1970: 784_111_778.5))
        #expect(VirtualScheduler().date == Date(timeIntervalSince1970: 946_684_800))
        #expect(abs(ActorScheduler.shared.currentDate.timeIntervalSinceNow) < 3600)
    }

    /// A stored response stays fresh for the given time.
    @Test(
        arguments: [CachePolicy.http, .time(.seconds(60))],
        ["max-age=60", "no header"])
    func freshness(policy: CachePolicy, field: String) throws {
        let fields: HTTPFields =
            field == "no header" ? [.expires: "Sun, 06 Nov 1994 08:50:37 GMT"] : [.cacheControl: field]
        let (client, transport) = client(.json("1", headers: fields)) { $0.options.cachePolicy = policy }
        for (second, count) in [(0, 1), (59, 1), (60, 2), (61, 2)] {
            try clock.advance(to: .seconds(second))
            client.get("/x").subscribe()
            try clock.advance(by: .zero)
            // A response that expires at a date stays expired.
            let isOver = policy.isHTTP && field == "no header" && second == 61
            #expect(transport.requests.count == count + (isOver ? 1 : 0), "second \(second)")
        }
    }

    /// A cookie lives for the given time.
    @Test(arguments: ["Max-Age=60", "Expires=Sun, 06 Nov 1994 08:50:37 GMT"])
    func cookies(attribute: String) throws {
        let jar = CookieJar(publicSuffixes: CookieFixture.suffixes)
        let (client, transport) = client(.json("1", headers: [.setCookie: "a=1; \(attribute)"]), .json("2")) {
            $0.cookies = jar
        }
        for second in [0, 59, 60] {
            try clock.advance(to: .seconds(second))
            client.get("/x").subscribe()
            try clock.advance(by: .zero)
        }
        #expect(transport.requests.map { $0.headerFields[.cookie] } == [nil, "a=1", nil])
        #expect(jar.cookies.isEmpty)
    }

    /// A jar saves changes a virtual second later.
    @Test func saving() throws {
        let storage = ScriptedStorage()
        let jar = CookieJar(
            publicSuffixes: CookieFixture.suffixes, storage: storage.storage, keepsSessionCookies: true)
        let (client, _) = client(.json("1", headers: [.setCookie: "a=1"])) { $0.cookies = jar }
        client.get("/x").subscribe()
        try clock.advance(by: .milliseconds(999))
        #expect(storage.saves == 0)
        try clock.advance(by: .milliseconds(1))
        #expect(storage.saves == 1)
    }

    /// A date in Retry-After is waited for.
    @Test func retryAfter() throws {
        let fields: HTTPFields = [.retryAfter: "Sun, 06 Nov 1994 08:49:47 GMT"]
        let (client, transport) = client(.status(.serviceUnavailable, headers: fields), .json("1")) {
            $0.options.retry = .exponentialBackoff(backoff: .constant(.zero))
        }
        client.get("/x").subscribe()
        try clock.run()
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(10)])
    }

    /// So does a host's limiter after a 429.
    @Test func limiter() throws {
        let fields: HTTPFields = [.retryAfter: "Sun, 06 Nov 1994 08:49:47 GMT"]
        let (client, transport) = client(.status(.tooManyRequests, headers: fields), .json("1")) {
            $0.hostLimits = RequestLimits(concurrency: 4)
        }
        client.get("/x").subscribe()
        try clock.advance(by: .seconds(1))
        client.get("/y").subscribe()
        try clock.run()
        #expect(transport.exchanges.map(\.startedAt) == [.zero, .seconds(10)])
    }

    /// Logins are counted and credentials expire by it.
    @Test func session() throws {
        let expires = clock.date + 600
        let session = Session(credential: Credential(token: "t0", expires: expires)) {
            .just(Credential(token: "t1"))
        }
        let (client, transport) = client(.json("1")) { $0.session = session }
        for second in [0, 569, 570] {
            try clock.advance(to: .seconds(second))
            client.get("/x").subscribe()
            try clock.advance(by: .zero)
        }
        #expect(transport.requests.map(\.token) == ["t0", "t0", "t1"])
    }

    /// Events carry its date.
    @Test func events() throws {
        let (client, _) = client(.json("1", after: .seconds(2)))
        let dates = MutableProperty<[Date]>([])
        client.traffic.subscribe { event in dates.update { $0.append(event.date) } }
        client.get("/x").subscribe()
        try clock.run()
        #expect(dates.value.first == Date(timeIntervalSince1970: 784_111_777))
        #expect(dates.value.last == Date(timeIntervalSince1970: 784_111_779))
    }

    /// A given clock, or another client's time, is used instead.
    @Test func givenClock() throws {
        let other = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 0))
        let jar = CookieJar(publicSuffixes: CookieFixture.suffixes, clock: other)
        let (client, _) = client(.json("1", headers: [.setCookie: "a=1; Max-Age=60"])) { $0.cookies = jar }
        client.get("/x").subscribe()
        try clock.advance(by: .seconds(600))
        #expect(jar.cookies.first?.expires == Date(timeIntervalSince1970: 60))
    }
}

extension CachePolicy {
    fileprivate var isHTTP: Bool { if case .http = self { true } else { false } }
}
