import RxNetworking

extension Recipe {
    static let viceServer = Recipe(
        "The vice server takes over",
        "The main server refuses everything; the same request is answered by the other one, and later by the main one."
    ) { stage in
        let (main, vice) = (Client.shop(stage.baseURL), Client.shop(stage.viceURL))
        // Code
        let shop = Client.shop(stage.baseURL) { configuration in
            configuration.viceURL = stage.viceURL
            configuration.failover = Failover(probeInterval: .milliseconds(200))
        }
        let goods = shop.catalogue.goods(7)
        // Shown
        func asked(_ client: Client) async throws -> Int {
            try await stage.value(of: client.statistics()).count("GET /goods/7")
        }
        let before = try await (asked(main), asked(vice))
        _ = try await stage.value(of: main.put("/closed/yes"))
        stage.note("the main server is closed")
        for _ in 1...2 { _ = await stage.play(goods) }
        stage.expect(shop.servers.active.value == .vice, "the vice server is active")
        stage.expect(try await asked(vice) == before.1 + 2, "the vice server has answered twice")

        _ = try await stage.value(of: main.put("/closed/no"))
        stage.note("the main server is open again")
        for _ in 1...200 where shop.servers.active.value == .vice {
            try await Task.sleep(for: .milliseconds(20))
            _ = try await stage.value(of: goods)
        }
        let after = try await (asked(main), asked(vice))
        stage.expect(
            shop.servers.active.value == .main && after.0 > before.0, "a probe has found the main server")
        stage.result(
            "main asked \(after.0 - before.0) times, vice \(after.1 - before.1); active is \(shop.servers.active.value)"
        )
    }
}
