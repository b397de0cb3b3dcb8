import RxNetworking

extension Recipe {
    static let browseGoods = Recipe(
        "A list, scrolled and pulled down",
        "Five pages, loaded while scrolling; a pull to refresh while the second loads, and a third that fails once."
    ) { stage in
        // Code
        let scrolled = Signal<Int>(), pulledDown = Signal<Void>(), tappedRetry = Signal<Void>()
        let commands: Observable<PagingCommand, Never> = .merge(
            scrolled.observable.map { .visible($0) }, pulledDown.observable.map { .reload },
            tappedRetry.observable.map { .next })
        let list = GoodsList(run: "\(ContinuousClock.now)", failingPage: 3)
        let states = stage.app.client.catalogue.goods(list, on: commands)
        // Shown
        var hasReloaded = false
        var failures = 0
        var last = PagingState<Goods>()
        for await state in states.values(buffering: .unbounded) {
            last = state
            stage.panel.show(state.rows)
            stage.note(
                "\(state.items.count) of \(state.total ?? 0) goods, \(state.page) pages: \(state.phase)")
            switch state.phase {
            case .loadingMore where !hasReloaded && state.page == 1:
                hasReloaded = true
                stage.note("the list is pulled down")
                pulledDown.send()
            case .failed:
                failures += 1
                stage.note("“Try again” is tapped")
                tappedRetry.send()
            case .idle:
                stage.note("scrolled to the third goods from the end")
                scrolled.send(state.items.count - 3)
            case .loadingFirst, .loadingMore, .loadingPrevious, .end: break
            }
            if case .end = state.phase { break }
        }
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
