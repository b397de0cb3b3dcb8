import RxNetworking

extension Recipe {
    static let cachedOffers = Recipe(
        "Offers from the cache",
        "The second load needs no request; pulling down makes the server confirm the stored response; three at once share one."
    ) { stage in
        let shop = Client.shop(stage.baseURL, named: "offers")
        let before = try await shop.statistics().value().count("GET /offers")
        // Code
        let first = shop.catalogue.offers()
        let again = shop.catalogue.offers()
        let pulledDown = shop.catalogue.offers(.noCache)
        // Shown
        var uses: [Response.CacheUse?] = []
        for (what, offers) in [("first", first), ("again", again), ("pulled down", pulledDown)] {
            let answer = try await offers.value()
            let count = try await shop.statistics().value().count("GET /offers") - before
            let use = answer.response.cacheUse
            uses.append(use)
            stage.note(
                "\(what): \(answer.output.count) offers, \(use.map { "\($0)" } ?? "sent"), \(count) requests so far"
            )
            stage.expect(answer.output.count == 3, "three offers")
        }
        stage.expect(uses == [nil, .fresh, .revalidated], "sent, then cached, then confirmed, not \(uses)")

        let other = Client.shop(stage.baseURL, named: "other offers")
        let three = try await Observable.zip((1...3).map { _ in other.catalogue.offers() }).value()
        let after = try await shop.statistics().value().count("GET /offers") - before
        stage.expect(three.allSatisfy { $0.output.count == 3 }, "all three get a response")
        stage.expect(after == 3, "the server sees three requests in all, not \(after)")
        let hits = shop.configuration.cache.statistics.hits
        stage.result("six loads, \(after) requests, \(hits) hit")
    }
}
