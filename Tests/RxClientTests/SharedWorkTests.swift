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
    private let bench = LoginBench()

    @Test("Sixty requests that wait for a login, and a POST for each of their responses, one after the other")
    func requestsThatFeedRequests() throws {
        bench.server.contents.withLock { contents in
            for index in 0..<20 {
                contents.answers["/\(index)"] = [.json("\(index)")]
                contents.delays["/\(index)"] = .milliseconds(3)
            }
        }
        let stream = Observable<Int, NetworkError>.sequence(0..<60)
            .flatMap { [client = bench.client] index in client.get("/\(index)") }
            .flatMap(.concat) { [client = bench.client] _ in client.post("/orders").map(\.text) }
        let recorder = Recorder(stream, on: bench.clock)
        try bench.clock.run()
        #expect(recorder.values.count == 60)
        #expect(recorder.isFinished)
        #expect(bench.server.logins == 1)
    }

    /// The shared work, and the two requests.
    enum Work: CaseIterable {
        case login
        case renewedAhead
        case restore
        case cookies
        case joinedGet
    }

    @Test("A paused waiter delays neither the work nor the other waiters", arguments: Work.allCases)
    func pausedWaiter(work: Work) throws {
        let bench = bench(work)
        let paused = MutableProperty<[String]>([])
        let path = work == .joinedGet ? "/same" : "/paused"
        let subscription = bench.client.get(path).subscribe(
            onNext: { response in paused.update { $0.append(response.text) } },
            onFailure: { error in paused.update { $0.append("\(error)") } })
        try bench.clock.advance(by: .milliseconds(1))
        subscription.pause()
        let running = bench.get(work == .joinedGet ? "/same" : "/running")
        try bench.clock.advance(by: .seconds(60))
        #expect(running.isFinished, "\(running.events)")
        #expect(paused.value.isEmpty)
        subscription.resume()
        try bench.clock.run()
        #expect(paused.value == ["\"\(path)\""])
        #expect(bench.transport.requests.count { $0.url.path == "/same" } == (work == .joinedGet ? 1 : 0))
    }

    private func bench(_ work: Work) -> LoginBench {
        let clock = VirtualScheduler(startingAt: LoginBench.start)
        switch work {
        case .login: return LoginBench(on: clock)
        case .renewedAhead:
            return LoginBench(
                on: clock, credential: Credential(token: "t0", expires: LoginBench.start + 1))
        case .restore:
            let files = MemoryFileSystem(on: clock, latency: .milliseconds(20))
            let text = #"{"version":1,"credentials":[{"token":"t0"}]}"#
            files["/credential.json"] = Array(text.utf8)
            return LoginBench(
                on: clock, credential: nil, store: CredentialFile("/credential.json", on: files))
        case .cookies:
            let storage = CookieStorage(
                load: Observable<Void, NetworkError>.timer(.milliseconds(20), on: clock).map { nil },
                save: { _ in .just(()) })
            let jar = CookieJar(publicSuffixes: CookieBench.suffixes, storage: storage)
            return LoginBench(on: clock, credential: Credential(token: "t0"), cookies: jar)
        case .joinedGet:
            let bench = LoginBench(
                on: clock, credential: Credential(token: "t0"), cachePolicy: .time(.seconds(1)))
            bench.server.contents.withLock { $0.delays["/same"] = .milliseconds(20) }
            return bench
        }
    }
}
