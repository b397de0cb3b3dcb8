import FoundationEssentials
import HTTPTypes
import RxCache
import RxClient
import RxCookies
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import TestCookies
import Testing

/// Work that several requests wait for does not depend on a paused one.
@Suite struct SharedWorkTests {
    private let fixture = LoginFixture()

    /// Sixty requests that wait for a login, and a POST for each of their responses, one after the other.
    @Test func requestsThatFeedRequests() throws {
        fixture.server.contents.withLock { contents in
            for index in 0..<20 {
                contents.answers["/\(index)"] = [.json("\(index)")]
                contents.delays["/\(index)"] = .milliseconds(3)
            }
        }
        let stream = Observable<Int, NetworkError>.sequence(0..<60)
            .flatMap { [client = fixture.client] index in client.get("/\(index)") }
            .flatMap(.concat) { [client = fixture.client] _ in client.post("/orders").map(\.text) }
        let recorder = Recorder(stream, on: fixture.clock)
        try fixture.clock.run()
        #expect(recorder.values.count == 60)
        #expect(recorder.isFinished)
        #expect(fixture.server.logins == 1)
    }

    /// The shared work, and the two requests.
    enum Work: CaseIterable {
        case login
        case renewedAhead
        case restore
        case cookies
        case joinedGet
    }

    /// A paused waiter delays neither the work nor the other waiters.
    @Test(arguments: Work.allCases)
    func pausedWaiter(work: Work) throws {
        let fixture = fixture(work)
        let paused = MutableProperty<[String]>([])
        let path = work == .joinedGet ? "/same" : "/paused"
        let subscription = fixture.client.get(path).subscribe(
            onNext: { response in paused.update { $0.append(response.text) } },
            onFailure: { error in paused.update { $0.append("\(error)") } })
        try fixture.clock.advance(by: .milliseconds(1))
        subscription.pause()
        let running = fixture.get(work == .joinedGet ? "/same" : "/running")
        try fixture.clock.advance(by: .seconds(60))
        #expect(running.isFinished, "\(running.events)")
        #expect(paused.value.isEmpty)
        subscription.resume()
        try fixture.clock.run()
        #expect(paused.value == ["\"\(path)\""])
        #expect(fixture.transport.requests.count { $0.url.path == "/same" } == (work == .joinedGet ? 1 : 0))
    }

    private func fixture(_ work: Work) -> LoginFixture {
        let clock = VirtualScheduler(startingAt: LoginFixture.start)
        switch work {
        case .login: return LoginFixture(on: clock)
        case .renewedAhead:
            return LoginFixture(
                on: clock, credential: Credential(token: "t0", expires: LoginFixture.start + 1))
        case .restore:
            let files = MemoryFileSystem(on: clock, latency: .milliseconds(20))
            let text = #"{"version":1,"credentials":[{"token":"t0"}]}"#
            files["/credential.json"] = Array(text.utf8)
            return LoginFixture(
                on: clock, credential: nil, store: CredentialFile("/credential.json", on: files))
        case .cookies:
            let storage = CookieStorage(
                load: Observable<Void, NetworkError>.timer(.milliseconds(20), on: clock).map { nil },
                save: { _ in .just(()) })
            let jar = CookieJar(publicSuffixes: CookieFixture.suffixes, storage: storage)
            return LoginFixture(on: clock, credential: Credential(token: "t0"), cookies: jar)
        case .joinedGet:
            let fixture = LoginFixture(
                on: clock, credential: Credential(token: "t0"), cachePolicy: .time(.seconds(1)))
            fixture.server.contents.withLock { $0.delays["/same"] = .milliseconds(20) }
            return fixture
        }
    }
}
