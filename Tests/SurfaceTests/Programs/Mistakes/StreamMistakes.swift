extension Mistake {
    /// Streams: schedulers, callbacks, values, failures.
    static let streams: [Mistake] = [
        Mistake(
            "a queue as a scheduler", importing: ["Foundation"],
            #"client.get("/a").observe(on: DispatchQueue.main).subscribe(onNext: { print($0) })"#,
            "'observe(on:)' is unavailable: a scheduler is 'ActorScheduler.main', 'ActorScheduler(actor)' or an event loop; or end the chain with 'subscribe(isolatedTo: MainActor.self)'"
        ),
        Mistake(
            "an actor as a scheduler",
            #"client.get("/a").observe(on: MainActor.shared).subscribe(onNext: { print($0) })"#,
            "'observe(on:)' is unavailable: a scheduler is 'ActorScheduler.main', 'ActorScheduler(actor)' or an event loop; or end the chain with 'subscribe(isolatedTo: MainActor.self)'"
        ),
        Mistake(
            "the main actor's instance",
            #"client.get("/a").decode([Goods].self).subscribe(isolatedTo: MainActor.shared) { goods in screen.show(goods) }"#,
            "cannot convert value of type 'MainActor' to expected argument type 'MainActor.Type'"),
        Mistake(
            "the main actor from a callback",
            #"client.get("/a").decode([Goods].self).subscribe(onNext: { goods in screen.show(goods) })"#,
            "call to main actor-isolated instance method 'show' in a synchronous nonisolated context"),
        Mistake(
            "the main actor below observe(on:)",
            #"client.get("/a").decode([Goods].self).observe(on: .main).subscribe { goods in screen.show(goods) }"#,
            "call to main actor-isolated instance method 'show' in a synchronous nonisolated context"),
        Mistake(
            "an object of the main actor in a callback",
            #"""
            @MainActor final class Model {
                var text = ""
                func load(_ client: Client) {
                    client.get("/a").subscribe(onNext: { response in self.text = response.text })
                }
            }
            """#, "main actor-isolated property 'text' can not be mutated from a Sendable closure"),
        Mistake(
            "an object that is not Sendable in a callback",
            #"""
            final class Model {
                var text = ""
                func load(_ client: Client) {
                    client.get("/a").subscribe(onNext: { [weak self] response in self?.text = response.text })
                }
            }
            """#, "capture of 'self' with non-Sendable type 'Model?' in a '@Sendable' closure"),
        Mistake(
            "a variable in a callback",
            #"""
            var count = 0
            client.get("/a").subscribe(onNext: { _ in count += 1 })
            """#, "mutation of captured var 'count' in concurrently-executing code"),
        Mistake(
            "a callback that awaits",
            #"client.get("/a").decode([Goods].self).subscribe(onNext: { goods in await screen.show(goods) })"#,
            "cannot pass function of type '@Sendable ([Goods]) async -> ()' to parameter expecting synchronous function type"
        ),
        Mistake(
            "map that awaits",
            #"""
            @Sendable func size(_ response: Response) async -> Int { response.body.count }
            client.get("/a").map { await size($0) }.subscribe(onNext: { print($0) })
            """#,
            "'map' is unavailable: write 'flatMap { value in .async { await … } }' for a closure that awaits"),
        Mistake(
            "a callback that throws",
            #"client.get("/a").subscribe(onNext: { response in print(try response.decode(Goods.self)) })"#,
            "invalid conversion from throwing function of type '@Sendable (Response) throws -> ()' to non-throwing function type '@Sendable (Response) -> Void'"
        ),
        Mistake(
            "a value that is not Sendable",
            #"""
            final class Tea { var name = "" }
            client.get("/a").map { _ in Tea() }.subscribe(onNext: { print($0.name) })
            """#, "type 'Tea' does not conform to the 'Sendable' protocol"),
        Mistake(
            "a property of a value that is not Sendable",
            #"""
            final class Tea { var name = "" }
            let tea = MutableProperty(Tea())
            """#, "type 'Tea' does not conform to the 'Sendable' protocol"),
        Mistake(
            "several statements above a callback that takes anything",
            #"""
            client.get("/a").map { response in
                let text = response.text
                return text.count
            }.subscribe(onNext: { print($0) })
            """#, "type 'Any' does not conform to the 'Sendable' protocol"),
        Mistake(
            "several statements above a print of a member",
            #"""
            client.get("/a").map { response in
                let text = response.text
                return text
            }.subscribe(onNext: { text in print(text.count) })
            """#, "cannot infer type of closure parameter 'text' without a type annotation"),
        Mistake(
            "several statements in flatMap above a print",
            #"""
            search.flatMap(.latest) { words in
                let query = words.lowercased()
                return client.get("/s", query: ["q": query])
            }.subscribe(onNext: { response in print(response.text) }, onFailure: { error in print(error.message) })
            """#, "failed to produce diagnostic for expression"),
        Mistake(
            "another failure in flatMap",
            #"""
            struct StoreError: Error {}
            @Sendable func save(_ text: String) -> Observable<Int, StoreError> { .just(text.count) }
            client.get("/a").flatMap { response in save(response.text) }.subscribe(onNext: { print($0) })
            """#,
            "'flatMap' is unavailable: this stream and the inner one fail with different types: give both the same by 'mapError'"
        ),
        Mistake(
            "another failure in combineLatest",
            #"""
            struct StoreError: Error {}
            let stored = Observable<Int, StoreError>.just(1)
            Observable.combineLatest(client.get("/a"), stored).subscribe(onNext: { print($0) })
            """#,
            "cannot convert value of type 'Observable<Int, StoreError>' to expected argument type 'Observable<Int, NetworkError>'"
        ),
        Mistake(
            "another failure in merge",
            #"""
            struct StoreError: Error {}
            let stored = Observable<Response, StoreError>.never()
            Observable.merge(client.get("/a"), stored).subscribe(onNext: { print($0) })
            """#,
            "cannot convert value of type 'Observable<Response, StoreError>' to expected argument type 'Observable<Response, NetworkError>'"
        ),
        Mistake(
            "another failure of the result",
            #"func load() -> Observable<Goods, any Error> { client.get("/a").decode(Goods.self) }"#,
            "cannot convert return expression of type 'Observable<Goods, NetworkError>' to return type 'Observable<Goods, any Error>'"
        ),
        Mistake(
            "a result that cannot fail",
            #"func load() -> Observable<Goods, Never> { client.get("/a").decode(Goods.self) }"#,
            "cannot convert return expression of type 'Observable<Goods, NetworkError>' to return type 'Observable<Goods, Never>'"
        ),
        Mistake(
            "try in map above flatMap",
            #"""
            @Sendable func number(in text: String) throws -> Int { 1 }
            client.get("/a").map { try number(in: $0.text) }.flatMap { client.get("/b/\($0)") }.subscribe()
            """#,
            "'flatMap' is unavailable: this stream and the inner one fail with different types: give both the same by 'mapError'"
        ),
        Mistake(
            "try in map and the code of the error",
            #"""
            client.get("/a").map { try $0.decode(Goods.self) }
                .subscribe(onNext: { print($0) }, onFailure: { print($0.code) })
            """#,
            "invalid conversion from throwing function of type '@Sendable (Response) throws -> Goods' to non-throwing function type '@Sendable (Response) -> Goods'"
        ),
        Mistake(
            "flatMap to a value",
            #"client.get("/a").flatMap { response in response.text }.subscribe(onNext: { print($0) })"#,
            "cannot convert value of type 'String' to closure result type 'Observable<Any, NetworkError>'"),
        Mistake(
            "map to a stream",
            #"client.get("/a").map { _ in client.get("/b") }.subscribe(onNext: { response in print(response.text) })"#,
            "'map' is unavailable: the closure returns a stream: write 'flatMap' in place of 'map'"),
        Mistake(
            "catch to a value",
            #"client.get("/a").map(\.text).catch { _ in "" }.subscribe(onNext: { print($0) })"#,
            "cannot convert value of type 'String' to closure result type 'Observable<String, NetworkError>'"),
        Mistake(
            "a forgotten subscription", #"client.get("/a").map(\.text)"#, "result of call to 'map' is unused"),
        Mistake(
            "bind of a stream that can fail",
            #"""
            let text = MutableProperty("")
            client.get("/a").map(\.text).bind(to: text)
            """#,
            "'bind(to:)' is unavailable: handle the failure first, such as by 'replaceError(with:)' or 'catch'"
        ),
        Mistake(
            "bind to a closure", #"client.get("/a").map(\.text).bind { print($0) }"#,
            "'bind(onNext:)' has been renamed to 'subscribe(onNext:)'"),
        Mistake(
            "a read-only property that is set",
            #"""
            let page = MutableProperty(1)
            let shown = Property(page)
            shown.value = 2
            """#, "cannot assign to property: 'value' is a get-only property"),
        Mistake(
            "sending to a property",
            #"""
            let page = MutableProperty(1)
            page.send(2)
            """#, "'send' is unavailable: set 'value', or change it by 'update(_:)'"),
        Mistake(
            "a timeout without an error", #"client.get("/a").timeout(.seconds(3)).subscribe()"#,
            "missing argument for parameter 'error' in call"),
        Mistake(
            "a number as a duration", "search.debounce(0.3).subscribe(onNext: { print($0) })",
            "cannot convert value of type 'Double' to expected argument type 'Duration'"),
        Mistake(
            "retry without a number", #"client.get("/a").retry().subscribe()"#,
            "missing argument for parameter #1 in call"),
        Mistake(
            "a loop over a signal", isAsync: true, "for await words in search { print(words) }",
            "for-in loop requires 'Signal<String>' to conform to 'AsyncSequence'"),
        Mistake(
            "the event of RxSwift",
            #"""
            client.get("/a").subscribe { event in
                switch event {
                case .next(let response): print(response)
                case .error(let error): print(error)
                case .completed: print("end")
                }
            }
            """#, "no exact matches in call to instance method 'subscribe'"),
    ]
}
