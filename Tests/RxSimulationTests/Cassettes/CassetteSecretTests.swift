import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import RxWebSocket
import Testing

@testable import RxSimulation

@Suite struct CassetteSecretTests {
    private struct Login: Decodable, Sendable { let token: String }

    private static let secrets = ["tok/en+9876543210", "hunter2hunter2", "s3ss10n-c00kie", "k3y-in-a-query"]

    /// A login, then a request with its token in every place that a token takes.
    private static func run(_ transport: any Transport, password: String, on clock: VirtualScheduler) throws
        -> [String]
    {
        let client = RecordedShop.client(transport)
        let bodies = Recorder(
            client.post("/login", .json(["user": "ann", "password": password])).decode(Login.self).flatMap {
                login in
                client.get(
                    "/cart", query: ["api_key": "k3y-in-a-query", "page": "2"],
                    headers: [
                        "Authorization": "Bearer \(login.token)", "Cookie": "sid=s3ss10n-c00kie; theme=dark",
                    ]
                ).flatMap { _ in
                    client.post("/out", .form(["token": login.token, "why": "done"]))
                }
            }.map(\.text), on: clock)
        try clock.run()
        return bodies.values
            + bodies.events.compactMap { event in
                if case .end(.failed(let error)) = event.kind { "\(error)" } else { nil }
            }
    }

    private static let rules: [ScriptedTransport.Rule] = [
        .when(
            .post, "/login",
            .json(
                #"{"token": "tok\/en+9876543210", "user": {"name": "ann"}, "pin": 12}"#,
                headers: [.setCookie: "sid=s3ss10n-c00kie; Path=/"])),
        .when(.get, "/cart", .json(#"{"next": "https://shop.test/cart?api_key=k3y-in-a-query&page=3"}"#)),
        .when(.post, "/out", .json(#"{"note": "tok/en+9876543210 is out"}"#)),
    ]

    /// No secret is in the file, and the flow fits together with the placeholders.
    @Test func flowsFit() throws {
        let shop = RecordedShop(Self.rules)
        let live = try Self.run(shop.recording, password: "hunter2hunter2", on: shop.clock)
        #expect(live == [#"{"note": "tok/en+9876543210 is out"}"#])
        let cassette = try shop.cassette()
        let text = String(decoding: cassette.encoded, as: UTF8.self)
        for secret in Self.secrets + ["tok\\/en", "tok%2Fen"] { #expect(!text.contains(secret), "\(secret)") }

        let token = try #require(cassette.exchanges[1].headerFields[.authorization]).dropFirst(
            "Bearer ".count)
        #expect(token.hasPrefix("secret-"))
        #expect(
            String(decoding: cassette.exchanges[0].content, as: UTF8.self).contains("\"token\": \"\(token)\"")
        )
        #expect(String(decoding: cassette.exchanges[2].body, as: UTF8.self).contains("token=\(token)"))
        #expect(
            String(decoding: cassette.exchanges[2].content, as: UTF8.self) == #"{"note": "\#(token) is out"}"#
        )
        #expect(cassette.exchanges[1].headerFields[.cookie]?.hasPrefix("sid=secret-") == true)
        #expect(
            cassette.exchanges[0].head?[.setCookie]
                == cassette.exchanges[1].headerFields[.cookie].map { "\($0.prefix { $0 != ";" }); Path=/" })

        for password in ["hunter2hunter2", "another"] {
            let clock = VirtualScheduler()
            let replay = ReplayTransport(cassette, on: clock)
            #expect(try Self.run(replay, password: password, on: clock) == [#"{"note": "\#(token) is out"}"#])
            try replay.verify()
        }
    }

    /// A placeholder of the cassette matches only the exchange that has it.
    @Test func placeholdersAreCompared() throws {
        let url = "https://shop.test/me"
        func exchange(_ token: String, _ body: String) -> Cassette.Exchange {
            Cassette.Exchange(
                url: url, headerFields: [.authorization: "Bearer \(token)"],
                events: [
                    Cassette.Event(.zero, .head(ResponseHead(status: .ok))),
                    Cassette.Event(.zero, .chunk(Array(body.utf8))), Cassette.Event(.zero, .finished),
                ])
        }
        let cassette = Cassette([exchange("secret-1", "old"), exchange("secret-2", "new")])
        var rules = ReplayRules()
        rules.isStrict = false
        for fields in [[], [.authorization]] as [Set<HTTPField.Name>] {
            rules.comparedFields = fields
            for (token, answer) in [("secret-2", "new"), ("secret-1", "old"), ("anything", "old")] {
                let clock = VirtualScheduler()
                let replay = ReplayTransport(cassette, on: clock, rules: rules)
                let request = Request(
                    url: try #require(URL(string: url)), headerFields: [.authorization: "Bearer \(token)"])
                let events = try RecordedShop.events(of: request, by: replay, on: clock)
                #expect(events.contains { $0.hasSuffix("chunk \(answer)") }, "\(token)")
            }
        }
    }

    /// A client that sends an expired token again gets no response that was recorded with the new one.
    @Test func expiredTokens() throws {
        let url = "https://shop.test/me"
        func exchange(_ token: String, _ status: HTTPResponse.Status) -> Cassette.Exchange {
            Cassette.Exchange(
                url: url, headerFields: [.authorization: "Bearer \(token)"],
                events: [
                    Cassette.Event(.zero, .head(ResponseHead(status: status))),
                    Cassette.Event(.zero, .finished),
                ])
        }
        let clock = VirtualScheduler()
        let replay = ReplayTransport(
            Cassette([exchange("secret-1", .unauthorized), exchange("secret-2", .ok)]), on: clock)
        let request = Request(
            url: try #require(URL(string: url)), headerFields: [.authorization: "Bearer secret-1"])
        let first = try RecordedShop.events(of: request, by: replay, on: clock)
        #expect(first.first?.contains("head 401") == true)
        let second = try RecordedShop.events(of: request, by: replay, on: clock)
        #expect(second.first?.contains("unrecorded") == true)
        #expect(second.first?.contains("the placeholder of a secret: it has no secret-1") == true)
    }

    /// The names that a request calls secret are masked on both sides.
    @Test func namesOfTheRequest() throws {
        func request(_ number: Int) throws -> Request {
            var request = Request(
                method: .post, url: try #require(URL(string: "https://shop.test/a?device_code=\(number)")),
                headerFields: [.contentType: "application/json"], body: .text(#"{"ssn": \#(number)}"#))
            request.secretParameters = ["ssn", "device_code"]
            return request
        }
        let shop = RecordedShop([.when(nil, "*", .status(.ok))])
        _ = try RecordedShop.events(of: try request(123_456_789), by: shop.recording, on: shop.clock)
        let clock = VirtualScheduler()
        let replay = ReplayTransport(try shop.cassette(), on: clock)
        let events = try RecordedShop.events(of: try request(987_654_321), by: replay, on: clock)
        #expect(events.first?.contains("head 200") == true, "\(events)")
        try replay.verify()
    }

    /// Chunks keep their times and places around what is replaced.
    @Test func chunksAroundSecrets() throws {
        let parts = [#"{"a": 1, "tok"#, #"en": "abc"#, "def", #"ghi", "b": 2}"#]
        let steps = parts.flatMap {
            [.chunk(Array($0.utf8)), .wait(.milliseconds(1))] as [ScriptedTransport.Step]
        }
        let head = ResponseHead(status: .ok, headerFields: [.contentType: "application/json"])
        let shop = RecordedShop([.when(.get, "/a", .init([.head(head)] + steps + [.finish]))])
        let request = Request(url: try #require(URL(string: "https://shop.test/a")))
        _ = try RecordedShop.events(of: request, by: shop.recording, on: shop.clock)
        let chunks = try shop.cassette().exchanges[0].events.compactMap { event -> String? in
            if case .chunk(let bytes) = event.kind { String(decoding: bytes, as: UTF8.self) } else { nil }
        }
        #expect(chunks == [#"{"a": 1, "tok"#, #"en": "secret-1""#, "", #", "b": 2}"#])
    }

    /// Secrets are found in every kind of content, complete or cut off.
    @Test(arguments: [
        (
            "application/json", #"{"a":{"password":{"x":"p1","y":[7,null,true]}},"b":"c"}"#,
            #"{"a":{"password":{"x":"secret-1","y":[2,null,true]}},"b":"c"}"#
        ),
        ("application/json", #"{"password":"p1"#, #"{"password":"secret-1""#),
        (
            "application/x-ndjson", "{\"token\":\"t\"}\n{\"token\":\"t\"}\n",
            "{\"token\":\"secret-1\"}\n{\"token\":\"secret-1\"}\n"
        ),
        ("text/event-stream", "data: {\"token\":\"t\"}\n\n", "data: {\"token\":\"secret-1\"}\n\n"),
        (
            "text/event-stream", "data: a 5\" pipe\n\ndata: {\"token\":\"t\"}\n\n",
            "data: a 5\" pipe\n\ndata: {\"token\":\"secret-1\"}\n\n"
        ),
        ("application/x-www-form-urlencoded", "a=1&password=p%201&b=", "a=1&password=secret-1&b="),
        (
            "multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nt\r\n--x\r\n\r\nu\r\n--x--\r\n",
            "--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nsecret-1\r\n--x\r\n\r\nu\r\n--x--\r\n"
        ),
        (
            "multipart/mixed; boundary=x",
            "--x\r\nX-API-Key: k1\r\nX-Other: v\r\n\r\nu\r\n--x--\r\n",
            "--x\r\nX-API-Key: secret-1\r\nX-Other: v\r\n\r\nu\r\n--x--\r\n"
        ),
        (
            "application/json",
            #"{"u":"https://a.test/?X-Amz-Signature=s1&b=2\u0026token=t1","token":"t1"}"#,
            #"{"u":"https://a.test/?X-Amz-Signature=secret-1&b=2\u0026token=secret-2","token":"secret-2"}"#
        ),
        (
            "text/html", "<a href='https://u:p@a.test/?a=1&amp;sig=s1'>",
            "<a href='https://secret-1:secret-2@a.test/?a=1&amp;sig=secret-3'>"
        ),
        ("text/plain", "?token=<b>", "?token=<b>"),
        ("image/png", #"{"password":"p1"}"#, #"{"password":"secret-1"}"#),
        (
            "application/json", #"{"access":"a1","refresh":"r1","device_code":"d1","code":4711}"#,
            #"{"access":"secret-1","refresh":"secret-2","device_code":"secret-3","code":4711}"#
        ),
        (
            "application/json", #"{"log":"{\"otp\":123456,\"a\":\"eyJhfQ.b.c\"}"}"#,
            #"{"log":"{\"otp\":1,\"a\":\"secret-2\"}"}"#
        ),
        ("text/plain", "signed in by eyJhfQ.b.c", "signed in by secret-1"),
    ])
    func kindsOfContent(type: String, content: String, recorded: String) throws {
        let shop = RecordedShop([
            .when(.post, "/a", .bytes(Array(content.utf8), headers: [.contentType: type]))
        ])
        let request = Request(
            method: .post, url: try #require(URL(string: "https://shop.test/a")),
            headerFields: [.contentType: type], body: .text(content))
        _ = try RecordedShop.events(of: request, by: shop.recording, on: shop.clock)
        let exchange = try shop.cassette().exchanges[0]
        #expect(String(decoding: exchange.body, as: UTF8.self) == recorded)
        #expect(String(decoding: exchange.content, as: UTF8.self) == recorded)
    }

    /// Secrets of URLs are replaced: user info, parameters, and in fields.
    @Test func secretsOfURLs() throws {
        let shop = RecordedShop([
            .when(
                nil, "*",
                .status(.found, headers: [.location: "https://shop.test/b?token=t1&c=2#access_token=t2"]))
        ])
        let request = Request(url: try #require(URL(string: "https://ann:pw@shop.test/a?c=1&token=t1")))
        _ = try RecordedShop.events(of: request, by: shop.recording, on: shop.clock)
        let exchange = try shop.cassette().exchanges[0]
        #expect(exchange.url == "https://secret-1:secret-2@shop.test/a?c=1&token=secret-3")
        #expect(exchange.head?[.location] == "https://shop.test/b?token=secret-3&c=2#access_token=secret-4")
    }

    /// Only a field of authentication keeps its first word; a cookie without a name is a secret.
    @Test func secretsOfFields() throws {
        let shop = RecordedShop([.when(nil, "*", .status(.ok, headers: [.setCookie: "abc; Path=/"]))])
        let request = Request(
            url: try #require(URL(string: "https://shop.test/a")),
            headerFields: [
                .authorization: "Bearer t1", try #require(HTTPField.Name("X-Passphrase")): "correct horse",
                .cookie: "abc; sid=s1",
            ])
        _ = try RecordedShop.events(of: request, by: shop.recording, on: shop.clock)
        let exchange = try shop.cassette().exchanges[0]
        #expect(
            exchange.headerFields.map(\.value) == ["Bearer secret-1", "secret-2", "secret-3; sid=secret-4"])
        #expect(exchange.head?[.setCookie] == "secret-3; Path=/")
    }

    /// Cookies are cut by bytes, as servers cut them: U+0600 and U+0301 make one `Character` of two, and U+037E equals a
    /// semicolon.
    @Test(arguments: [
        ("sid=\u{301}s3cr3t==", "sid=secret-1"), ("sid\u{600}=s3cr3t==", "sid\u{600}=secret-1"),
        ("sid=a\u{37E}s3cr3t", "sid=secret-1"),
    ])
    func combiningMarksInCookies(cookie: String, recorded: String) throws {
        let shop = RecordedShop([
            .when(nil, "*", .status(.ok, headers: [.setCookie: "\(cookie); Path=/"]))
        ])
        let request = Request(
            url: try #require(URL(string: "https://shop.test/a")), headerFields: [.cookie: cookie])
        _ = try RecordedShop.events(of: request, by: shop.recording, on: shop.clock)
        let exchange = try shop.cassette().exchanges[0]
        #expect(exchange.headerFields[.cookie] == recorded)
        #expect(exchange.head?[.setCookie] == "\(recorded); Path=/")
    }

    /// A long secret is replaced in other spellings and in binary messages.
    @Test(arguments: [
        ##"{"x": "ab//cd+ef=0123456789"}"##, ##"{"x": "ab\/\/cd+ef=0123456789"}"##,
        ##"{"x": "ab\u002F\u002Fcd\u002Bef\u003D0123456789"}"##,
        ##"{"x": "ab\u002f\u002fcd\u002bef\u003d0123456789"}"##, "ab%2F%2Fcd%2Bef%3D0123456789",
    ])
    func spellings(text: String) throws {
        let shop = RecordedShop([
            .when(
                .get, "/login", .json(#"{"token": "ab//cd+ef=0123456789"}"#)),
            .when(.get, "/text", .bytes(Array(text.utf8), headers: [.contentType: "image/x"])),
            .when(.get, "/ws", .webSocket(.send(.binary(Array(text.utf8))), .close(.normalClosure))),
        ])
        for path in ["login", "text"] {
            let request = Request(url: try #require(URL(string: "https://shop.test/\(path)")))
            _ = try RecordedShop.events(of: request, by: shop.recording, on: shop.clock)
        }
        let messages = Recorder(
            RecordedShop.client(shop.recording).webSocket("/ws"), on: shop.clock)
        try shop.clock.run()
        #expect(messages.isFinished)
        let cassette = try shop.cassette()
        #expect(String(decoding: cassette.exchanges[1].content, as: UTF8.self).contains("secret-1"))
        let binary = cassette.exchanges[2].events.compactMap { event -> String? in
            guard case .message(.binary(let bytes), .server) = event.kind else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(binary.count == 1 && binary[0].contains("secret-1") && !binary[0].contains("0123456789"))
    }

    /// A slash is escaped before a combining mark, too.
    @Test func slashesInSpellings() {
        var pseudonyms = Pseudonyms()
        let placeholder = pseudonyms.placeholder(for: "ab/\u{301}cdef0123456789")
        #expect(pseudonyms.scattered["ab\\/\u{301}cdef0123456789"] == placeholder)
    }
}
