import RxNetworking

extension Recipe {
    static let browseGoods = Recipe(
        "A list, scrolled and pulled down",
        "Five pages, loaded while scrolling; a pull to refresh while the second loads, and a third that fails once."
    ) { stage in
        var hasReloaded = false
        var failures = 0
        var last = PagingState<Goods>()
        // Code
        let scrolled = Signal<Void>().inspected("scrolled")
        let pulledDown = Signal<Void>().inspected("pulled down")
        let list = GoodsList(run: "\(ContinuousClock.now)", failingPage: 3)
        let states = stage.app.client.catalogue.goods(list, next: scrolled, reload: pulledDown)

        for await state in states.inspected("goods").values(buffering: .unbounded) {
            stage.panel.show(state.rows)
            stage.note("\(state.items.count) of \(state.total ?? 0) goods, \(state.phase)")
            last = state
            switch state.phase {
            case .loadingMore where !hasReloaded:
                hasReloaded = true
                stage.note("the list is pulled down")
                pulledDown.send()
            case .failed, .idle:
                if state.phase.error != nil { failures += 1 }
                // The end of the list is in view, or “Try again” is tapped.
                scrolled.send()
            case .loadingFirst, .loadingMore, .loadingPrevious, .end: break
            }
            if case .end = state.phase { break }
        }
        // Shown
        stage.expect(hasReloaded && failures == 1, "one reload and one failed page, not \(failures)")
        stage.expect(
            last.page == 5 && last.items.map(\.id) == Array(1...47), "47 goods in order, from 5 pages")
        stage.result("\(last.items.count) goods from \(last.page) pages")
    }
}

extension PagingState<Goods> {
    /// The last goods of the list that fit, and the footer below them.
    fileprivate var rows: [Panel.Row] {
        let goods = items.suffix(6).map { goods in
            Panel.Row(text: "| \(goods.name)  \(goods.price)")
        }
        let footer =
            switch phase {
            case .loadingFirst, .loadingMore, .loadingPrevious: "(loading)"
            case .failed(let error): "(\(error.message) – try again)"
            case .idle: ""
            case .end: "(end of list)"
            }
        return goods + [Panel.Row(text: "| \(footer)")]
    }
}
