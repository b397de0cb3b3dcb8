extension Mistake {
    /// Sessions.
    static let sessions: [Mistake] = [
        Mistake(
            "a login that gives the model",
            #"_ = Session { client.post("/login", .form(["user": "a"])).decode(Login.self) }"#,
            "cannot convert value of type '@Sendable () -> Observable<Login, NetworkError>' to expected argument type '@Sendable () -> Observable<Credential, NetworkError>'"
        ),
        Mistake(
            "a login that gives the token",
            #"_ = Session { client.post("/login", .form(["user": "a"])).decode(Login.self).map { $0.token } }"#,
            "cannot convert value of type 'String' to closure result type 'Credential'"),
        Mistake(
            "a login with a parameter",
            #"_ = Session { client in client.post("/login").decode(Login.self).map { Credential(token: $0.token) } }"#,
            "contextual closure type '@Sendable () -> Observable<Credential, NetworkError>' expects 0 arguments, but 1 was used in closure body"
        ),
        Mistake(
            "a token without a credential", #"_ = Session(token: "abc")"#, "extra argument 'token' in call"),
        Mistake(
            "a session of a client", #"_ = Client(baseURL: "https://a.test", session: session)"#,
            "extra argument 'session' in call"),
    ]

    /// Lists that arrive in pages.
    static let paging: [Mistake] = [
        Mistake(
            "an output that is not a list",
            "client.pages(GoodsPages(), .numbered(size: 20), next: Signal()).subscribe { print($0.items) }",
            "instance method 'pages(_:_:options:next:reload:)' requires the types 'GoodsPages.Output' and '[Item]' be equivalent",
            "generic parameter 'Item' could not be inferred"),
        Mistake(
            "next as a stream",
            #"""
            let more = Signal<Void>()
            client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: more.observable).subscribe { print($0) }
            """#,
            "cannot convert value of type 'Observable<Void, Never>' to expected argument type 'Signal<Void>'"),
        Mistake(
            "a list without next",
            #"client.pages(GoodsList(keyword: "tea"), .numbered(size: 20)).subscribe { print($0.items) }"#,
            "missing argument for parameter 'on' in call"),
        Mistake(
            "a state as the list",
            #"client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: Signal()).subscribe { print($0.count) }"#,
            "value of type 'PagingState<Goods>' has no member 'count'"),
        Mistake(
            "the failure of a list",
            #"""
            client.pages(GoodsList(keyword: "tea"), .numbered(size: 20), next: Signal())
                .subscribe(onNext: { print($0.items) }, onFailure: { print($0.message) })
            """#, "value of type 'Never' has no member 'message'"),
        Mistake(
            "all items as a list", isAsync: true,
            #"let goods: [Goods] = try await client.items(GoodsList(keyword: "tea"), .numbered(size: 20)).value()"#,
            "cannot convert value of type 'Goods' to specified type '[Goods]'"),
    ]

    /// Downloads and uploads.
    static let transfers: [Mistake] = [
        Mistake(
            "a download of a path", #"client.download("/map.osm", to: "/tmp/map.osm").subscribe()"#,
            "'download(_:to:)' is unavailable: write 'client.download(.get(path), to: file)'"),
        Mistake(
            "a URL as the path of a download", importing: ["Foundation"],
            #"client.download(.get("/map.osm"), to: URL(filePath: "/tmp/map.osm")).subscribe()"#,
            "cannot convert value of type 'URL' to expected argument type 'String'"),
        Mistake(
            "an event of a download as the file",
            #"client.download(.get("/map.osm"), to: "/tmp/map.osm").subscribe(onNext: { file in print(file.size) })"#,
            "value of type 'DownloadEvent' has no member 'size'"),
        Mistake(
            "an upload", #"client.upload("/tmp/tea.jpg", to: "/images").subscribe()"#,
            "'upload(_:to:)' is unavailable: a file is a body: 'client.post(path, .file(file))', or 'client.progress(of:)' for its progress"
        ),
        Mistake(
            "a URL as the file of an upload", importing: ["Foundation"],
            #"client.post("/images", .file(URL(filePath: "/tmp/tea.jpg"))).subscribe()"#,
            "cannot convert value of type 'URL' to expected argument type 'String'"),
        Mistake(
            "a dictionary as a form with files",
            #"client.post("/images", .multipart(["file": "/tmp/tea.jpg"])).subscribe()"#,
            "cannot convert value of type '[String : String]' to expected argument type '[Multipart.Part]'"),
        Mistake(
            "the progress of a sent request",
            #"client.progress(of: client.post("/images", .file("/tmp/tea.jpg"))).subscribe()"#,
            "instance method 'progress(of:)' requires that 'Observable<Response, NetworkError>' conform to 'Endpoint'"
        ),
    ]

    /// The cache.
    static let cache: [Mistake] = [
        Mistake(
            "a cache policy at the call", #"client.get("/a", cachePolicy: .time(.seconds(60))).subscribe()"#,
            "extra argument 'cachePolicy' in call"),
        Mistake(
            "a number as an age",
            #"client.get("/a", options: RequestOptions(cachePolicy: .time(60))).subscribe()"#,
            "cannot convert value of type 'Int' to expected argument type 'Duration'"),
        Mistake(
            "a policy of URLRequest",
            #"client.get("/a", options: RequestOptions(cachePolicy: .reloadIgnoringCacheData)).subscribe()"#,
            "type 'CachePolicy?' has no member 'reloadIgnoringCacheData'"),
        Mistake(
            "a cache policy of the configuration",
            #"""
            var configuration = ClientConfiguration()
            configuration.cachePolicy = .http
            """#, "'cachePolicy' has been renamed to 'options.cachePolicy'"),
        Mistake(
            "a removal that nobody starts", "client.configuration.cache.remove(.all)",
            "result of call to 'remove' is unused"),
    ]

    /// Tests in virtual time.
    static let testing: [Mistake] = [
        Mistake(
            "a step of the clock without try", importing: ["RxTesting"],
            #"""
            let clock = VirtualScheduler()
            clock.advance(by: .seconds(1))
            """#, "call can throw, but it is not marked with 'try' and the error is not handled"),
        Mistake(
            "a number as a step of the clock", importing: ["RxTesting"],
            #"""
            let clock = VirtualScheduler()
            try? clock.advance(by: 3)
            """#, "cannot convert value of type 'Int' to expected argument type 'Duration'"),
        Mistake(
            "a recorder without a clock", importing: ["RxTesting"],
            #"let recorder = Recorder(client.get("/a"))"#, "missing argument for parameter 'on' in call"),
        Mistake(
            "a transport without a clock", importing: ["RxTesting"],
            #"let transport = ScriptedTransport([.when(.get, "/a", .json("[]"))])"#,
            "missing argument for parameter 'on' in call"),
        Mistake(
            "a rule without a method", importing: ["RxTesting"],
            #"let transport = ScriptedTransport(on: VirtualScheduler(), [.when("/a", .json("[]"))])"#,
            "cannot convert value of type 'String' to expected argument type 'HTTPRequest.Method'",
            "type 'String' has no member 'json'"),
        Mistake(
            "a dictionary as the JSON of a reply", importing: ["RxTesting"],
            #"let transport = ScriptedTransport(on: VirtualScheduler(), [.when(.get, "/a", .json(["name": "tea"]))])"#,
            "cannot convert value of type '[String : String]' to expected argument type 'String'"),
        Mistake(
            "a client without a base URL", importing: ["RxTesting"],
            "_ = Client(transport: ScriptedTransport(on: VirtualScheduler(), []))",
            "missing argument for parameter 'configuration' in call"),
        Mistake(
            "a diagram without types", isAsync: true, importing: ["RxTesting"],
            #"""
            let clock = VirtualScheduler()
            let typed = try clock.hot("-a-b|")
            """#, "generic parameter 'Element' could not be inferred",
            "generic parameter 'Failure' could not be inferred"),
        Mistake(
            "an operator on the source of a diagram", isAsync: true, importing: ["RxTesting"],
            #"""
            let clock = VirtualScheduler()
            let typed: MarbleSource<String, Never> = try clock.hot("-a-b|")
            let recorder = Recorder(typed.debounce(.milliseconds(3)), on: clock)
            """#, "generic parameter 'Element' could not be inferred",
            "generic parameter 'Failure' could not be inferred",
            "value of type 'MarbleSource<String, Never>' has no member 'debounce'"),
        Mistake(
            "an awaited value in virtual time without try", isAsync: true, importing: ["RxTesting"],
            #"""
            let clock = VirtualScheduler()
            let response = try await clock.run { await client.get("/a").value() }
            """#, "call can throw, but it is not marked with 'try' and the error is not handled"),
    ]
}
