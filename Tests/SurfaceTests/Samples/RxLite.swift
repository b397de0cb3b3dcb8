import RxNetworking

func searchField(search: @escaping @Sendable (String) -> Observable<[String], PortError>) {
    let query = Signal<String>()
    let results =
        query
        .debounce(.milliseconds(300))
        .distinctUntilChanged()
        .flatMap(.latest) { words in search(words).replaceError(with: []) }
        .share(replay: 1)

    let subscription = results.subscribe { names in print(names) }
    query.send("tea")
    subscription.cancel()
}

func typedErrors() -> Observable<Int, Never> {
    let port = Observable<String, PortError>.just("8080")
        .map { text throws(PortError) in
            guard let port = Int(text) else { throw PortError(text: text) }
            return port
        }
        .replaceError(with: 80)  // an Observable<Int, Never>
    return port
}

func comingFromElsewhere(
    query: Signal<String>, bag: SubscriptionBag,
    search: @escaping @Sendable (String) -> Observable<[String], PortError>,
    show: @escaping @MainActor @Sendable ([String]) -> Void
) {
    // RxLite
    query
        .debounce(.milliseconds(300))
        .distinctUntilChanged()
        .flatMap(.latest) { words in search(words).replaceError(with: []) }
        .subscribe(isolatedTo: MainActor.self) { names in show(names) }
        .store(in: bag)
}

func writtenOutForRxSwift(
    names: Observable<String, Never>, streams: Observable<Observable<String, Never>, Never>
) -> [Any] {
    let numbered = Observable.zip(.sequence(0...), names)  // enumerated
    let third = names.skip(2).take(1)  // element(at: 2)
    let later = Observable.timer(.seconds(1)).flatMap { names }  // delaySubscription
    let merged = streams.flatMap(.merge(limit: 4)) { $0 }  // merge(maxConcurrent: 4)
    let newest = streams.flatMap(.latest) { $0 }  // switchLatest
    return [numbered, third, later, merged, newest]
}

func writtenOutForCombine(
    names: Observable<String, Never>, clock: any Scheduler,
    load: @escaping @Sendable () async -> String
) -> [Any] {
    let hasTea = names.filter { $0 == "tea" }.map { _ in true }.take(1).ifEmpty(default: false)  // contains
    let count = names.reduce(0) { count, _ in count + 1 }  // count
    let times = names.map { _ in clock.now }.pairwise().map { $0.current - $0.previous }  // measureInterval
    let second = names.skip(1).take(1)  // output(at: 1)
    let once = Observable<String, Never>.async { await load() }.share(replay: 1, reset: [])  // Future
    return [hasTea, count, times, second, once]
}
