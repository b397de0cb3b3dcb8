import RxNetworking

extension Recipe {
    static let loadingIndicator = Recipe(
        "One indicator for all requests",
        "It is on from the first request to the end of the last; background requests do not count."
    ) { stage in
        let shop = stage.app.client
        let shown = Signal<Bool>()
        var states = shown.observable.values(buffering: .unbounded).makeAsyncIterator()
        // Code
        let indicator = shop.activity.observable.map { $0 > 0 }.distinctUntilChanged()
            .subscribe { isOn in
                stage.note("indicator \(isOn ? "on" : "off")")
                shown.send(isOn)
            }

        var heartbeat = InlineEndpoint(.get, "/goods/1")
        heartbeat.options.presentation = .hidden
        let three = Observable.zip([1, 2, 3].map { shop.catalogue.goods($0) })
        // Shown
        defer { indicator.cancel() }
        _ = try await shop.request(heartbeat).value()
        stage.note("the background request has finished")
        let goods = try await three.value()
        var seen: [Bool] = []
        while seen.count < 3, let isOn = await states.next() {
            seen.append(isOn)
        }
        stage.expect(goods.map(\.id) == [1, 2, 3], "the results keep their order")
        stage.expect(seen == [false, true, false], "it turns on once and off once")
        stage.result("off, on, off for \(goods.count) requests")
    }
}
