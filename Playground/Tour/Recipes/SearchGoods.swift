import RxNetworking

extension Recipe {
    static let searchGoods = Recipe(
        "A search box",
        "Only a pause in typing sends a search, and a newer word replaces a search that has not ended."
    ) { stage in
        let catalogue = stage.app.client.catalogue
        func sent() async throws -> Int {
            try await stage.app.client.statistics().value().count("GET /goods")
        }
        let before = try await sent()
        // Code
        let typed = Signal<String>().inspected("typed")
        let found = typed.observable
            .debounce(.milliseconds(100))
            .distinctUntilChanged()
            .flatMap(.latest) { word in catalogue.goods(named: word).replaceError(with: []) }
            .inspected("found")

        var results = found.values(buffering: .unbounded).makeAsyncIterator()
        for word in ["o", "oo", "ool", "oolong t"] {
            stage.note("typed   \(word)")
            typed.send(word)
            try await Task.sleep(for: .milliseconds(20))
        }
        let goods = await results.next() ?? []
        // Shown
        let requests = try await sent() - before
        stage.expect(goods.map(\.name) == ["Oolong tin"], "the goods of the last word")
        stage.expect(requests == 1, "one search, not \(requests)")
        stage.result("\(goods.map(\.name)) for 4 words typed, with \(requests) request")
    }
}
