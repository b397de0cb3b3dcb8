import RxNetworking

extension Recipe {
    static let loadingIndicator = Recipe(
        "One indicator for a screen",
        "It is on while a tracked stream runs, and says what for; other requests of the client do not count."
    ) { stage in
        let shop = stage.app.client
        let shown = Signal<Bool>()
        var states = shown.observable.values(buffering: .unbounded).makeAsyncIterator()
        // Code
        let screen = Activity()
        let indicator = screen.isActive.withLatestFrom(screen.message) { isOn, text in
            stage.note("indicator \(isOn ? "on" : "off")  \(text ?? "")")
            return isOn
        }
        .subscribe { isOn in shown.send(isOn) }

        let heartbeat = shop.get("/goods/1")
        let three = Observable.zip([1, 2, 3].map { shop.catalogue.goods($0) })
            .tracked(by: screen, loading: "Loading three goods…")
        // Shown
        defer { indicator.cancel() }
        _ = try await heartbeat.value()
        stage.note("the heartbeat has been answered")
        let goods = try await three.value()
        stage.note("all three have arrived")
        var seen: [Bool] = []
        while seen.count < 3, let isOn = await states.next() {
            seen.append(isOn)
        }
        stage.expect(goods.map(\.id) == [1, 2, 3], "the results keep their order")
        stage.expect(seen == [false, true, false], "it turns on once and off once")
        stage.result("off, on, off for \(goods.count) requests")
    }
}
