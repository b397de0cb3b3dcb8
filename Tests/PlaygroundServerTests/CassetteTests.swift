import Foundation
import PlaygroundServer
import RxNetworking
import RxSimulation
import RxTesting
import RxTestingSupport
import Synchronization
import Testing

@testable import Playground

@Suite struct CassetteTests {
    /// The exchanges that octokit/fixtures recorded from GitHub.
    static let gitHub = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Cassettes/github.har"
    ).path

    /// The tour's paging recipe runs from recorded exchanges, in virtual time.
    @Test(.timeLimit(.minutes(1)))
    func gitHubPages() async throws {
        let cassette = try Cassette(contentsOf: Self.gitHub)
        let clock = VirtualScheduler(startingAt: cassette.startedAt)
        var rules = ReplayRules()
        rules.isStrict = false
        let replay = ReplayTransport(cassette, on: clock, rules: rules)
        let stage = Stage(
            baseURL: "https://api.github.com", standbyURL: "https://api.github.com",
            app: ShopApp(baseURL: "https://api.github.com", transport: replay), transport: replay)
        let isDone = Mutex(false)
        let run = Task {
            defer { isDone.withLock { $0 = true } }
            try await Recipe.gitHubPages.run(stage)
        }
        // The recipe subscribes in another task; its requests wait for the clock.
        while !isDone.withLock({ $0 }) {
            try clock.run()
            await Task.yield()
        }
        try await run.value
        #expect(stage.broken.isEmpty)
        #expect(replay.unmatched.isEmpty)
        #expect(replay.unused.count == cassette.exchanges.count - 5)
    }

    /// Every exchange that GitHub answered replays.
    @Test func gitHubReplays() throws {
        let cassette = try Cassette(contentsOf: Self.gitHub)
        #expect(cassette.exchanges.count == 71)
        let clock = VirtualScheduler()
        var rules = ReplayRules()
        rules.keepsOrder = true
        let replay = ReplayTransport(cassette, on: clock, rules: rules)
        for exchange in cassette.exchanges {
            let request = Request(method: exchange.method, url: try #require(URL(string: exchange.url)))
            let recorder = Recorder(replay.send(request), on: clock)
            try clock.run()
            #expect(recorder.isFinished)
        }
        try replay.verify()
        #expect(try Cassette(bytes: cassette.encoded).encoded == cassette.encoded)
    }

    private static let shopRules = {
        var rules = ReplayRules()
        // The server's port changes.
        rules.comparesOrigins = false
        return rules
    }()

    /// A login, a list and a cart of the shop replay.
    @Test(.cassette("shop", rules: shopRules))
    func shop() async throws {
        let cassette = try TestCassette.current
        let server = cassette.mode == .replay ? nil : try await DemoAPI.start()
        let baseURL = server?.baseURL ?? "https://shop.test"
        let transport = try cassette.transport(
            replacing: [baseURL: "https://shop.test"], network: CurlTransport.shared)
        let app = ShopApp(baseURL: baseURL, transport: transport)
        let tea = try #require(try await cassette.values(of: app.client.catalogue.goods(7)).first)
        let cart = try await cassette.values(of: app.client.basket.add(tea, number: 2)).first
        #expect(cart?.lines.map(\.number) == [2])
        #expect(try await cassette.values(of: app.client.basket.content()).first?.price == cart?.price)
        await server?.stop()
    }
}
