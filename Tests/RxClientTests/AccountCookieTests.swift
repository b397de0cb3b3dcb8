import FoundationEssentials
import HTTPTypes
import RxClient
import RxCookies
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import TestCookies
import Testing

/// Cookies belong to an account: no request carries the cookies of one account and the token of another.
@Suite struct AccountCookieTests {
    private let clock = VirtualScheduler(startingAt: LoginFixture.start)
    private let storage = ScriptedStorage()

    private func fixture(
        _ credential: Credential? = Credential(token: "t0"), isStored: Bool = false
    ) -> (LoginFixture, CookieJar) {
        let jar = CookieJar(
            publicSuffixes: CookieFixture.suffixes, storage: isStored ? storage.storage : nil,
            keepsSessionCookies: true)
        return (LoginFixture(on: clock, credential: credential, cookies: jar), jar)
    }

    private func set(_ line: String, in jar: CookieJar) throws {
        try jar.set(line, from: #require(URL(string: "https://shop.test/")))
    }

    /// The `Cookie` field and the token of each request to a path.
    private func sent(_ fixture: LoginFixture, _ path: String) -> [String] {
        fixture.transport.requests.filter { $0.url.path == path }
            .map { "\($0.headerFields[.cookie] ?? "-") \($0.token ?? "-")" }
    }

    /// Logging in as another account.
    @Test(arguments: [nil, "bert"])
    func switching(account: String?) throws {
        let (fixture, jar) = fixture(Credential(token: "t0", account: account.map { _ in "anna" }))
        try set("sid=anna", in: jar)
        _ = fixture.get("/1")
        try clock.run()
        fixture.session.logIn(with: Credential(token: "B", account: account))
        #expect(jar.cookies.isEmpty)
        _ = fixture.get("/2")
        try clock.run()
        #expect(sent(fixture, "/1") == ["sid=anna t0"])
        #expect(sent(fixture, "/2").first == "- B")
    }

    /// Logging in as the same account keeps them.
    @Test func sameAccount() throws {
        let (fixture, jar) = fixture(Credential(token: "t0", account: "anna"))
        try set("sid=anna", in: jar)
        fixture.session.logIn(with: Credential(token: "t1", account: "anna"))
        _ = fixture.get("/1")
        try clock.advance(by: .milliseconds(1))
        #expect(sent(fixture, "/1") == ["sid=anna t1"])
    }

    /// Logging out, by the user or by a refused login, empties the jar and its file.
    @Test(arguments: [false, true])
    func loggingOut(isRefused: Bool) throws {
        let (fixture, jar) = fixture(isStored: true)
        try set("sid=anna", in: jar)
        try clock.advance(by: .seconds(2))
        #expect(storage.text.contains("anna"))
        if isRefused {
            fixture.server.contents.withLock {
                $0.token = "another"
                $0.loginAnswers = [.status(.forbidden)]
            }
            _ = fixture.get("/1")
        } else {
            fixture.session.logOut()
        }
        try clock.run()
        #expect(jar.cookies.isEmpty)
        #expect(!storage.text.contains("anna"))
    }

    /// A late response to a request of the previous account sets no cookie.
    @Test func lateResponse() throws {
        let (fixture, jar) = fixture()
        fixture.server.contents.withLock {
            $0.answers["/slow"] = [.json("1", headers: [.setCookie: "sid=anna"])]
            $0.delays["/slow"] = .milliseconds(50)
        }
        let slow = fixture.get("/slow")
        try clock.advance(by: .milliseconds(5))
        fixture.session.logIn(with: Credential(token: "B"))
        try clock.run()
        #expect(slow.isFinished)
        #expect(jar.cookies.isEmpty)
    }

    /// The next hop of such a request carries none of the new account's cookies.
    @Test func nextHop() throws {
        let (fixture, jar) = fixture()
        fixture.server.contents.withLock {
            $0.answers["/from"] = [.status(.found, headers: [.location: "/to"])]
            $0.delays["/from"] = .milliseconds(50)
            $0.answers["/to"] = [.json("1", headers: [.setCookie: "sid=anna"])]
        }
        _ = fixture.get("/from")
        try clock.advance(by: .milliseconds(5))
        fixture.session.logIn(with: Credential(token: "B"))
        try set("sid=bert", in: jar)
        try clock.run()
        #expect(sent(fixture, "/to") == ["- t0"])
        #expect(jar.cookies.map(\.value) == ["bert"])
    }

    /// … nor does a hop to another origin, which carries no credential.
    @Test func nextHopElsewhere() throws {
        let (fixture, jar) = fixture()
        fixture.server.contents.withLock {
            $0.answers["/from"] = [.status(.found, headers: [.location: "https://other.test/to"])]
            $0.delays["/from"] = .milliseconds(50)
        }
        _ = fixture.get("/from")
        try clock.advance(by: .milliseconds(5))
        fixture.session.logIn(with: Credential(token: "B"))
        try jar.set("sid=bert", from: #require(URL(string: "https://other.test/")))
        try clock.run()
        #expect(sent(fixture, "/to") == ["- -"])
    }

    /// Without an account before, cookies set by the login stay, and those of an earlier process are removed.
    @Test(arguments: [false, true])
    func loginThatSetsCookies(byClosure: Bool) throws {
        do {
            let (_, jar) = fixture(isStored: true)
            try set("sid=anna; Max-Age=1000", in: jar)
            try set("theme=dark; Max-Age=1000", in: jar)
            try clock.advance(by: .seconds(2))
        }
        let (fixture, jar) = fixture(nil, isStored: true)
        let open = fixture.get("/public")
        try clock.advance(by: .milliseconds(1))
        #expect(open.events.isEmpty && sent(fixture, "/public") == ["sid=anna; theme=dark -"])
        open.cancel()
        try set("sid=bert", in: jar)
        if !byClosure { fixture.session.logIn(with: Credential(token: "t0")) }
        _ = fixture.get("/1")
        try clock.advance(by: .seconds(2))
        #expect(sent(fixture, "/1").first == (byClosure ? "sid=bert t1" : "sid=bert t0"))
        #expect(!storage.text.contains("theme"))
    }

    /// … also if the storage has not been read by then.
    @Test func loginBeforeRestoring() throws {
        do {
            let (_, jar) = fixture(isStored: true)
            try set("sid=anna; Max-Age=1000", in: jar)
            try clock.advance(by: .seconds(2))
        }
        let (fixture, jar) = fixture(nil, isStored: true)
        fixture.session.logIn(with: Credential(token: "t0"))
        _ = fixture.get("/1")
        try clock.advance(by: .seconds(2))
        #expect(sent(fixture, "/1") == ["- t0"])
        #expect(jar.cookies.isEmpty)
    }

    /// A login of the session that returns another account is such a switch, too.
    @Test func loginGivesAnotherAccount() throws {
        let jar = CookieJar(publicSuffixes: CookieFixture.suffixes)
        let fixture = LoginFixture(
            on: clock, credential: Credential(token: "old", account: "anna"), cookies: jar,
            login: { client in
                LoginFixture.logIn(client).map { Credential(token: $0.token, account: "bert") }
            })
        try set("sid=anna", in: jar)
        let recorder = fixture.get("/1")
        try clock.run()
        #expect(recorder.failure?.code == .loginExpired)
        _ = fixture.get("/2")
        try clock.run()
        #expect(sent(fixture, "/2") == ["- t1"])
        #expect(fixture.eventTexts == ["logged in"])
    }
}
