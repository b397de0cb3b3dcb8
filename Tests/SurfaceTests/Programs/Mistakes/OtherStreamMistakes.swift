extension Mistake {
    /// Names and habits of RxSwift.
    static let rxSwift: [Mistake] = [
        Mistake(
            "the labels of RxSwift",
            #"client.get("/a").subscribe(onNext: { print($0) }, onError: { print($0) }, onCompleted: { print("end") })"#,
            "'subscribe(onNext:onError:onCompleted:)' has been renamed to 'subscribe(onNext:onFailure:onFinish:)'"
        ),
        Mistake(
            "onError without onCompleted",
            #"client.get("/a").subscribe(onNext: { print($0) }, onError: { print($0) })"#,
            "'subscribe(onNext:onError:onCompleted:)' has been renamed to 'subscribe(onNext:onFailure:onFinish:)'"
        ),
        Mistake(
            "onCompleted",
            #"client.get("/a").subscribe(onNext: { print($0) }, onCompleted: { print("end") })"#,
            "'subscribe(onNext:onCompleted:)' has been renamed to 'subscribe(onNext:onFinish:)'"),
        Mistake(
            "a DisposeBag",
            #"""
            let bag = DisposeBag()
            client.get("/a").subscribe(onNext: { print($0) }).disposed(by: bag)
            """#, "'DisposeBag' has been renamed to 'SubscriptionBag'",
            "'disposed(by:)' has been renamed to 'store(in:)'"),
        Mistake(
            "dispose",
            #"""
            let subscription = client.get("/a").subscribe()
            subscription.dispose()
            """#, "'dispose()' has been renamed to 'cancel()'"),
        Mistake(
            "a whole chain of RxSwift",
            #"""
            search.debounce(.milliseconds(300), scheduler: MainScheduler.instance)
                .distinctUntilChanged()
                .flatMapLatest { words in client.get("/s", query: ["q": words]).map(\.text).catchAndReturn("") }
                .observe(on: MainScheduler.instance)
                .subscribe(onNext: { text in print(text) })
            """#, "'MainScheduler' is unavailable: use 'ActorScheduler.main'",
            "'debounce(_:scheduler:)' is unavailable: the clock is the stream's own: leave out 'scheduler', or name a clock by 'on:'",
            "'flatMapLatest' is unavailable: write 'flatMap(.latest) { … }'",
            "'catchAndReturn' has been renamed to 'replaceError(with:)'"),
        Mistake(
            "observeOn",
            #"client.get("/a").observeOn(MainScheduler.instance).subscribe(onNext: { print($0) })"#,
            "'MainScheduler' is unavailable: use 'ActorScheduler.main'",
            "'observeOn' is unavailable: write 'observe(on: ActorScheduler.main)', or end the chain with 'subscribe(isolatedTo: MainActor.self)'"
        ),
        Mistake(
            "flatMapFirst",
            #"search.flatMapFirst { words in client.get("/s", query: ["q": words]) }.subscribe(onNext: { print($0) })"#,
            "'flatMapFirst' is unavailable: write 'flatMap(.first) { … }'"),
        Mistake(
            "concatMap",
            #"search.concatMap { words in client.get("/s", query: ["q": words]) }.subscribe(onNext: { print($0) })"#,
            "'concatMap' is unavailable: write 'flatMap(.concat) { … }'"),
        Mistake(
            "throttle with a scheduler",
            "search.throttle(.seconds(1), scheduler: MainScheduler.instance).subscribe(onNext: { print($0) })",
            "'MainScheduler' is unavailable: use 'ActorScheduler.main'",
            "'throttle(_:scheduler:)' is unavailable: the clock is the stream's own: leave out 'scheduler', or name a clock by 'on:'"
        ),
        Mistake(
            "a scope of sharing", #"let shared = client.get("/a").share(replay: 1, scope: .forever)"#,
            "extra argument 'scope' in call"),
        Mistake(
            "asObservable", "search.asObservable().subscribe(onNext: { print($0) })",
            "'asObservable()' has been renamed to 'observable'"),
        Mistake(
            "a PublishSubject",
            #"""
            let taps = PublishSubject<Int>()
            taps.onNext(1)
            """#, "'PublishSubject' has been renamed to 'Signal'", "'onNext' has been renamed to 'send(_:)'"),
        Mistake(
            "a PublishRelay",
            #"""
            let taps = PublishRelay<Int>()
            taps.accept(1)
            """#, "'PublishRelay' has been renamed to 'Signal'", "'accept' has been renamed to 'send(_:)'"),
        Mistake(
            "a BehaviorSubject",
            #"""
            let page = BehaviorSubject(value: 1)
            page.onNext(2)
            """#, "'BehaviorSubject' has been renamed to 'MutableProperty'",
            "'init(value:)' has been renamed to 'init(_:)'",
            "'onNext' is unavailable: set 'value', or change it by 'update(_:)'"),
        Mistake(
            "a BehaviorRelay",
            #"""
            let page = BehaviorRelay<Int>(value: 1)
            page.accept(2)
            """#, "'BehaviorRelay' has been renamed to 'MutableProperty'",
            "'init(value:)' has been renamed to 'init(_:)'",
            "'accept' is unavailable: set 'value', or change it by 'update(_:)'"),
        Mistake(
            "values of RxSwift", "Observable.of(1, 2, 3).subscribe(onNext: { print($0) })",
            "'of' is unavailable: write 'Observable.sequence([…])'"),
        Mistake(
            "a list of values of RxSwift", "Observable.from([1, 2, 3]).subscribe(onNext: { print($0) })",
            "'from' has been renamed to 'sequence(_:)'"),
        Mistake(
            "an error of RxSwift",
            #"let failed = Observable<Int, NetworkError>.error(NetworkError(.noContent, "nothing"))"#,
            "'error' has been renamed to 'fail(_:)'"),
        Mistake(
            "an observer of RxSwift",
            #"""
            let numbers = Observable<Int, NetworkError>.create { observer in
                observer.onNext(1)
                observer.onError(NetworkError(.noContent, "nothing"))
                observer.onCompleted()
            }
            """#, "'onNext' has been renamed to 'send(_:)'", "'onError' has been renamed to 'fail(_:)'",
            "'onCompleted()' has been renamed to 'finish()'"),
        Mistake(
            "a disposable from create",
            #"""
            let numbers = Observable<Int, Never>.create { observer in
                observer.send(1)
                return Disposables.create()
            }
            """#, "cannot find 'Disposables' in scope"),
        Mistake(
            "toArray",
            #"client.items(GoodsList(keyword: "tea"), .numbered(size: 20)).toArray().subscribe(onNext: { print($0) })"#,
            "'toArray()' has been renamed to 'collect()'"),
        Mistake(
            "a replacement of RxSwift 5",
            #"client.get("/a").map(\.text).catchErrorJustReturn("").subscribe(onNext: { print($0) })"#,
            "'catchErrorJustReturn' has been renamed to 'replaceError(with:)'"),
        Mistake(
            "do", #"client.get("/a").do(onNext: { print($0) }).subscribe()"#,
            "'do(onNext:)' has been renamed to 'handleEvents(onNext:)'"),
        Mistake(
            "one type parameter", "let numbers: Observable<Int> = .never()",
            "generic type 'Observable' specialized with too few type parameters (got 1, but expected 2)"),
    ]

    /// Names and habits of Combine.
    static let combine: [Mistake] = [
        Mistake(
            "sink", #"client.get("/a").sink { print($0) }"#,
            "'sink(receiveValue:)' has been renamed to 'subscribe(onNext:)'"),
        Mistake(
            "sink with a completion",
            #"client.get("/a").sink(receiveCompletion: { print($0) }, receiveValue: { print($0) })"#,
            "'sink(receiveCompletion:receiveValue:)' is unavailable: write 'subscribe(onNext:onFailure:)' or 'subscribe(onNext:onEnd:)'"
        ),
        Mistake(
            "a set of cancellables",
            #"""
            var cancellables = Set<AnyCancellable>()
            client.get("/a").subscribe(onNext: { print($0) }).store(in: &cancellables)
            """#,
            "'AnyCancellable' is unavailable: use 'Subscription', and 'SubscriptionBag' in place of 'Set<AnyCancellable>'",
            "cannot convert value of type 'Set<AnyCancellable>' to expected argument type 'SubscriptionBag'"),
        Mistake(
            "a bag with an ampersand",
            #"""
            let bag = SubscriptionBag()
            client.get("/a").subscribe(onNext: { print($0) }).store(in: &bag)
            """#, "'&' used with non-inout argument of type 'SubscriptionBag'",
            "cannot pass immutable value as inout argument: 'bag' is a 'let' constant"),
        Mistake(
            "receive(on:)", importing: ["Foundation"],
            #"client.get("/a").receive(on: DispatchQueue.main).subscribe(onNext: { print($0) })"#,
            "'receive(on:)' is unavailable: write 'observe(on: ActorScheduler.main)', or end the chain with 'subscribe(isolatedTo: MainActor.self)'"
        ),
        Mistake(
            "switchToLatest",
            #"search.map { words in client.get("/s", query: ["q": words]) }.switchToLatest().subscribe(onNext: { print($0) })"#,
            "'switchToLatest()' is unavailable: write 'flatMap(.latest) { … }' in place of 'map' and 'switchToLatest'"
        ),
        Mistake(
            "a type-erased publisher",
            #"func load() -> AnyPublisher<Goods, NetworkError> { client.get("/a").decode(Goods.self).eraseToAnyPublisher() }"#,
            "'AnyPublisher' has been renamed to 'Observable'",
            "'eraseToAnyPublisher()' is unavailable: delete the call: each operator returns an 'Observable'"),
        Mistake(
            "a PassthroughSubject",
            #"""
            let taps = PassthroughSubject<Int, Never>()
            taps.send(1)
            """#,
            "'PassthroughSubject' has been renamed to 'Signal': it cannot fail, and has one type parameter"),
        Mistake(
            "a CurrentValueSubject",
            #"""
            let page = CurrentValueSubject<Int, Never>(1)
            page.send(2)
            """#,
            "'CurrentValueSubject' has been renamed to 'MutableProperty': it cannot fail, and has one type parameter",
            "'send' is unavailable: set 'value', or change it by 'update(_:)'"),
        Mistake(
            "removeDuplicates", "search.removeDuplicates().subscribe(onNext: { print($0) })",
            "'removeDuplicates()' has been renamed to 'distinctUntilChanged()'"),
        Mistake(
            "debounce of Combine", importing: ["Foundation"],
            "search.debounce(for: .milliseconds(300), scheduler: DispatchQueue.main).subscribe(onNext: { print($0) })",
            "'debounce(for:scheduler:)' is unavailable: write 'debounce(_:)'; the clock is the stream's own, or given by 'on:'"
        ),
        Mistake(
            "dropFirst", "search.observable.dropFirst().subscribe(onNext: { print($0) })",
            "'dropFirst' has been renamed to 'skip(_:)'"),
        Mistake(
            "prefix", "search.observable.prefix(2).subscribe(onNext: { print($0) })",
            "'prefix' has been renamed to 'take(_:)'"),
        Mistake(
            "first", "search.observable.first().subscribe(onNext: { print($0) })",
            "'first()' is unavailable: write 'take(1)', or 'try await value()' to wait for the value"),
        Mistake(
            "zip as a method", #"client.get("/a").zip(client.get("/b")).subscribe(onNext: { print($0) })"#,
            "'zip' is unavailable: write 'Observable.zip(one, other)'"),
        Mistake(
            "combineLatest as a method",
            #"client.get("/a").combineLatest(client.get("/b")).subscribe(onNext: { print($0) })"#,
            "'combineLatest' is unavailable: write 'Observable.combineLatest(one, other)'"),
    ]
}
