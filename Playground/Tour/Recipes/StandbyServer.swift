import RxNetworking

extension Recipe {
    static let standbyServer = Recipe(
        "The standby server takes over",
        "The main server refuses all requests; they go to the standby server, and later to the main server again."
    ) { stage in
        let main = Client.shop(stage.baseURL, named: "main server")
        let standby = Client.shop(stage.standbyURL, named: "standby server")
        // Code
        let shop = Client.shop(stage.baseURL, named: "failover") { configuration in
            configuration.standbyURL = stage.standbyURL
            configuration.failoverProbeInterval = .milliseconds(200)
        }
        let goods = shop.catalogue.goods(7)
        // Shown
        func asked(_ client: Client) async throws -> Int {
            try await client.statistics().value().count("GET /goods/7")
        }
        let before = try await (asked(main), asked(standby))
        _ = try await main.put("/closed/yes").value()
        for _ in 1...2 { _ = try await goods.value() }
        stage.note("the main server is closed: two responses from the standby server")
        stage.expect(shop.servers.active.value == .standby, "the standby server is active")
        stage.expect(try await asked(standby) == before.1 + 2, "the standby server has responded twice")

        _ = try await main.put("/closed/no").value()
        for _ in 1...200 where shop.servers.active.value == .standby {
            try await Task.sleep(for: .milliseconds(20))
            _ = try await goods.value()
        }
        stage.note("the main server is open again: a probe has found it")
        let after = try await (asked(main), asked(standby))
        stage.expect(
            shop.servers.active.value == .main && after.0 > before.0, "a probe has found the main server")
        stage.result(
            "main: \(after.0 - before.0) requests, standby: \(after.1 - before.1); active: \(shop.servers.active.value)"
        )
    }
}
