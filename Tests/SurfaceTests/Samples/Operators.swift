import RxNetworking

func asyncBridges(load: @escaping @Sendable () async throws -> [String]) async throws {
    let goods = Observable<[String], any Error>.async { try await load() }
    let first = try await goods.value()
    for try await names in goods {
        print(names, first)
    }
}

func patience(loading: Observable<String, PortError>) -> Observable<String, PortError> {
    let backoff = Backoff.fullJitter(base: .milliseconds(100), cap: .seconds(5))
    let policy = RetryPolicy<PortError> { _, history in
        history.count < 3 ? backoff.delay(history, { .random(in: 0..<1) }) : nil
    }
    let patient = loading.retry(policy)
    return patient
}

func inspectedStreams(loading: @escaping @Sendable (String) -> Observable<[String], Never>) {
    let query = Signal<String>().inspected("search")
    query.flatMap(.latest) { word in loading(word).inspected("results") }
        .subscribe { show($0) }
}

func combinations(
    name: MutableProperty<String>, password: MutableProperty<String>, canLogIn: MutableProperty<Bool>
) {
    Observable.combineLatest(name, password) { !$0.isEmpty && $1.count >= 8 }.bind(to: canLogIn)
}

private func show(_: [String]) {}
