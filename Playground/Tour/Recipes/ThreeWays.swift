import RxNetworking

extension Recipe {
    static let threeWays = Recipe(
        "Callbacks, await, for await",
        "The same stream, received in three ways; each subscription sends a request. The last is on the main actor."
    ) { stage in
        let before = try await stage.app.client.statistics().value().count("GET /goods/7")
        let names = Signal<String>()
        var received = names.observable.values(buffering: .unbounded).makeAsyncIterator()
        // Code
        let goods = stage.app.client.catalogue.goods(7)

        goods.subscribe(
            onNext: { goods in names.send(goods.name) }, onFailure: { error in names.send(error.message) })

        let awaited = try await goods.value()

        for try await goods in goods { stage.note("a loop gets \(goods.name)") }

        goods.subscribe(isolatedTo: MainActor.self, onNext: { goods in names.send("main: \(goods.name)") })
        // Shown
        let one = await received.next()
        let two = await received.next()
        stage.note(
            "await gives \(awaited.name), callbacks \(one ?? "nothing") and \(two ?? "nothing")"
        )
        let called = [one, two].compactMap { $0 }.sorted()
        stage.expect(awaited.id == 7, "await gives the goods")
        stage.expect(
            called == ["Assam box", "main: Assam box"], "both callbacks get the name, not \(called)")
        let after = try await stage.app.client.statistics().value().count("GET /goods/7")
        stage.expect(after - before == 4, "the server sees four requests, not \(after - before)")
        stage.result("four subscriptions, \(after - before) requests")
    }
}
