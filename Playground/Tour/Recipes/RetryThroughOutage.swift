import RxNetworking

extension Recipe {
    static let retryThroughOutage = Recipe(
        "Retrying through an outage",
        "Two 503 responses with Retry-After: 1, then success; the server determines the waits."
    ) { stage in
        let key = "\(ContinuousClock.now)"
        let shop = Client.shop(stage.baseURL, named: "outage")
        let before = try await shop.statistics().value().count("GET /flaky")
        // Code
        let status = shop.response(InlineEndpoint(.get, "/flaky", query: ["key": key]))
            .handleEvents(onEnd: { if case .failed(let error) = $0 { stage.note("attempt: \(error)") } })
            .retry(.exponentialBackoff(maxRetries: 2))
            .map { $0.status.code }
        // Shown
        let start = ContinuousClock.now
        let (values, _) = await stage.play(status)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let attempts = try await shop.statistics().value().count("GET /flaky") - before
        stage.expect(values == [200], "the third attempt succeeds")
        stage.expect(attempts == 3, "the server sees three attempts, not \(attempts)")
        stage.expect(seconds >= 2, "no attempt comes before the server's Retry-After")
        stage.result("\(attempts) attempts in \(Int(seconds * 10) / 10) s")
    }
}
