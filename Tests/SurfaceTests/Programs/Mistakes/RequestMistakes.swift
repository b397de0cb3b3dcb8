extension Mistake {
    /// Requests, their parameters and options, and the configuration.
    static let requests: [Mistake] = [
        Mistake(
            "parameters of a GET without a label", #"client.get("/a", ["a": 1]).subscribe()"#,
            "'get(_:at:_:)' has been renamed to 'get(_:query:)': a GET has no body: pass the parameters as 'query:'"
        ),
        Mistake(
            "parameters of a HEAD without a label", #"client.head("/a", ["a": 1]).subscribe()"#,
            "'head(_:at:_:)' has been renamed to 'head(_:query:)': a HEAD has no body: pass the parameters as 'query:'"
        ),
        Mistake(
            "parameters of a GET endpoint without a label",
            #"client.progress(of: .get("/a", ["a": 1])).subscribe()"#,
            "'get(_:at:_:)' has been renamed to 'get(_:query:)': a GET has no body: pass the parameters as 'query:'"
        ),
        Mistake(
            "a model as the parameters", #"client.post("/a", NewGoods(name: "tea", price: 1)).subscribe()"#,
            "'post(_:at:_:)' is unavailable: say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
        ),
        Mistake(
            "a text as the body", #"client.post("/a", "text").subscribe()"#,
            "'post(_:at:_:)' is unavailable: say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
        ),
        Mistake(
            "bytes as the body", #"client.post("/a", [UInt8](repeating: 0, count: 4)).subscribe()"#,
            "'post(_:at:_:)' is unavailable: say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
        ),
        Mistake(
            "a model as the parameters of an endpoint",
            #"client.progress(of: .put("/a", NewGoods(name: "tea", price: 1))).subscribe()"#,
            "'put(_:at:_:)' is unavailable: say how the body is sent: '.json(model)', '.form(model)', '.query(model)', '.text(string)' or '.body(.bytes(bytes))'"
        ),
        Mistake(
            "parameters with a label", #"client.post("/a", parameters: ["a": 1]).subscribe()"#,
            "extraneous argument label 'parameters:' in call"),
        Mistake(
            "a dictionary of anything",
            #"""
            let parameters: [String: Any] = ["a": 1, "b": "x"]
            client.post("/a", .json(parameters)).subscribe()
            """#,
            "cannot convert value of type '[String : Any]' to expected argument type 'Parameters.Values' (aka 'Dictionary<String, Optional<any Encodable & Sendable>>')"
        ),
        Mistake(
            "a dictionary of header fields",
            #"""
            let headers: [String: String] = ["X-App": "shop"]
            client.get("/a", headers: headers).subscribe()
            """#, "cannot convert value of type '[String : String]' to expected argument type 'Headers'"),
        Mistake(
            "a model that is not Sendable as the body",
            #"""
            final class Draft: Encodable { var name = "" }
            client.post("/a", .json(Draft())).subscribe()
            """#, "type 'Draft' does not conform to the 'Sendable' protocol"),
        Mistake(
            "a path as an endpoint", #"client.request("/a").subscribe()"#,
            "'request(_:method:parameters:headers:)' is unavailable: write 'client.get(path, query: …)', 'client.post(path, .json(…))' …; 'request' takes an endpoint"
        ),
        Mistake(
            "a request of Alamofire",
            #"client.request("/a", method: .post, parameters: ["a": 1]).subscribe()"#,
            "'request(_:method:parameters:headers:)' is unavailable: write 'client.get(path, query: …)', 'client.post(path, .json(…))' …; 'request' takes an endpoint"
        ),
        Mistake(
            "a decoded response of Alamofire",
            #"client.get("/a").validate().responseDecodable(of: Goods.self) { response in print(response) }"#,
            "'validate()' is unavailable: delete the call: a status other than 2xx is an error in any case",
            "'responseDecodable(of:completionHandler:)' is unavailable: write 'decode(Model.self).subscribe(onNext:onFailure:)'"
        ),
        Mistake(
            "an awaited response of Alamofire", isAsync: true,
            #"let goods = try await client.get("/a").serializingDecodable(Goods.self).value"#,
            "'serializingDecodable' is unavailable: write 'try await decode(Model.self).value()'"),
        Mistake(
            "the data of a response", #"client.get("/a").map { $0.data }.subscribe()"#,
            "'data' has been renamed to 'body'"),
        Mistake(
            "the status code of a response", #"client.get("/a").map { $0.statusCode }.subscribe()"#,
            "'statusCode' has been renamed to 'status.code'"),
        Mistake(
            "the headers of a response", #"client.get("/a").map { $0.headers }.subscribe()"#,
            "'headers' has been renamed to 'head.headerFields'"),
        Mistake(
            "a timeout at the call", #"client.get("/a", timeout: .seconds(3)).subscribe()"#,
            "extra argument 'timeout' in call"),
        Mistake(
            "a timeout among the options",
            #"client.get("/a", options: RequestOptions(timeout: .seconds(3))).subscribe()"#,
            "'init(timeout:)' is unavailable: write 'RequestOptions(timeouts: Timeouts(total: .seconds(30)))'"
        ),
        Mistake(
            "options beside an endpoint",
            #"client.request(GoodsList(keyword: "tea"), options: RequestOptions(cacheMode: .reload)).subscribe()"#,
            "'request(_:options:)' is unavailable: the options of an endpoint are changed by 'endpoint.with { $0.cacheMode = .reload }'"
        ),
        Mistake(
            "a value of the path", #"client.get("/a/{id}", at: 7).subscribe()"#,
            "cannot convert value of type 'Int' to expected argument type 'PathValues' (aka 'Dictionary<String, any CustomStringConvertible & Sendable>')"
        ),
        Mistake(
            "a base URL without a label", #"_ = Client("https://a.test")"#,
            "missing argument label 'baseURL:' in call"),
        Mistake(
            "a URL as the base URL", importing: ["Foundation"],
            #"_ = Client(baseURL: URL(string: "https://a.test")!)"#,
            "cannot convert value of type 'URL' to expected argument type 'String'"),
        Mistake(
            "a configuration without a label", "_ = Client(ClientConfiguration())",
            "missing argument label 'configuration:' in call"),
        Mistake(
            "options of the configuration",
            #"""
            var configuration = ClientConfiguration()
            configuration.headers = ["X-App": "shop"]
            configuration.timeouts = Timeouts(total: .seconds(30))
            configuration.retry = .never
            configuration.envelope = .absent
            """#, "'headers' has been renamed to 'options.headers'",
            "'timeouts' has been renamed to 'options.timeouts'",
            "'retry' has been renamed to 'options.retry'", "'envelope' has been renamed to 'options.envelope'"
        ),
        Mistake(
            "the configuration of a client that is set", "client.configuration.session = session",
            "cannot assign to property: 'configuration' is a 'let' constant"),
    ]

    /// Endpoints as types.
    static let endpoints: [Mistake] = [
        Mistake(
            "an endpoint without an output", #"struct A: Endpoint { let path = "/a" }"#,
            "type 'A' does not conform to protocol 'Endpoint'"),
        Mistake(
            "an endpoint without a path", "struct A: Endpoint { typealias Output = String }",
            "type 'A' does not conform to protocol 'Endpoint'"),
        Mistake(
            "an output that is not Decodable",
            #"""
            struct B {}
            struct A: Endpoint { let path = "/a"; typealias Output = B }
            """#, "type 'A' does not conform to protocol 'Endpoint'"),
        Mistake(
            "an output that is not Sendable",
            #"""
            final class B: Decodable { var name = "" }
            struct A: Endpoint { let path = "/a"; typealias Output = B }
            """#, "type 'A.Output' (aka 'B') does not conform to the 'Sendable' protocol"),
        Mistake(
            "a method without a type",
            #"struct A: Endpoint { let path = "/a"; typealias Output = String; let method = .post }"#,
            "reference to member 'post' cannot be resolved without a contextual type"),
        Mistake(
            "another result than the output", isAsync: true,
            #"let goods: Goods = try await client.request(GoodsList(keyword: "tea")).value()"#,
            "cannot convert value of type 'GoodsList.Output' (aka 'Array<Goods>') to specified type 'Goods'"),
    ]

    /// Values that are awaited.
    static let awaiting: [Mistake] = [
        Mistake(
            "a model that is not Decodable", isAsync: true,
            #"""
            struct Tea { var name = "" }
            let tea = try await client.get("/a").decode(Tea.self).value()
            """#, "instance method 'decode' requires that 'Tea' conform to 'Decodable'"),
        Mistake(
            "a model that is not Sendable", isAsync: true,
            #"""
            final class Tea: Decodable { var name = "" }
            let tea = try await client.get("/a").decode(Tea.self).value()
            """#, "type 'Tea' does not conform to the 'Sendable' protocol"),
        Mistake(
            "a model without decode", isAsync: true,
            #"let goods: Goods = try await client.get("/a").value()"#,
            "cannot convert value of type 'Response' to specified type 'Goods'"),
        Mistake(
            "a stream without value", isAsync: true,
            #"""
            let goods = try await client.get("/a").decode(Goods.self)
            print(goods.name)
            """#, "value of type 'Observable<Goods, NetworkError>' has no member 'name'"),
        Mistake(
            "value without parentheses", isAsync: true,
            #"""
            let goods = try await client.get("/a").decode(Goods.self).value
            print(goods.name)
            """#, "function 'goods' was used as a property; add () to call it"),
        Mistake(
            "a missing try", isAsync: true, #"let goods = await client.get("/a").decode(Goods.self).value()"#,
            "call can throw but is not marked with 'try'"),
        Mistake(
            "a missing await", isAsync: true, #"let goods = try client.get("/a").decode(Goods.self).value()"#,
            "expression is 'async' but is not marked with 'await'"),
        Mistake(
            "an await where nothing is asynchronous",
            #"let goods = try await client.get("/a").decode(Goods.self).value()"#,
            "'async' call in a function that does not support concurrency",
            "errors thrown from here are not handled"),
        Mistake(
            "the code of an error in a closure",
            #"""
            Task {
                do { print(try await client.get("/a").value().text) } catch { print(error.code) }
            }
            """#, "value of type 'any Error' has no member 'code'"),
        Mistake(
            "a stream of pages as a sequence", isAsync: true,
            #"for goods in try await client.items(GoodsList(keyword: "tea"), .numbered(size: 20)) { print(goods) }"#,
            "for-in loop requires 'Observable<Goods, NetworkError>' to conform to 'Sequence'"),
        Mistake(
            "a loop without try",
            #"""
            @Sendable func show() async {
                for await goods in client.items(GoodsList(keyword: "tea"), .numbered(size: 20)) { print(goods) }
            }
            """#, "call can throw, but the error is not handled", "errors thrown from here are not handled"),
    ]
}
