import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxSimulation
import RxTesting
import Testing

@Suite struct ReplayTransportTests {
    private let clock = VirtualScheduler()

    private func exchange(
        _ method: HTTPRequest.Method = .get, _ url: String, body: String = "",
        type: String = "application/json",
        answer: String
    ) -> Cassette.Exchange {
        Cassette.Exchange(
            method: method, url: url, headerFields: body.isEmpty ? [:] : [.contentType: type],
            body: Array(body.utf8),
            events: [
                Cassette.Event(.milliseconds(10), .head(ResponseHead(status: .ok))),
                Cassette.Event(.milliseconds(30), .chunk(Array(answer.utf8))),
                Cassette.Event(.milliseconds(40), .finished),
            ])
    }

    private func request(
        _ method: HTTPRequest.Method = .get, _ url: String, body: String = "",
        type: String = "application/json"
    ) throws -> Request {
        Request(
            method: method, url: try #require(URL(string: url)),
            headerFields: body.isEmpty ? [:] : [.contentType: type], body: body.isEmpty ? .empty : .text(body)
        )
    }

    private func answers(_ requests: [Request], by replay: ReplayTransport) throws -> [String] {
        try requests.map { request in
            let events = try RecordedShop.events(of: request, by: replay, on: clock)
            return events.first { $0.contains("chunk ") }.map { String($0.split(separator: " ").last ?? "") }
                ?? "none"
        }
    }

    /// Bodies match by their meaning.
    @Test(arguments: [
        ("application/json", #"{"a": 1, "b": [true, "ü"]}"#, #"{"b":[true,"\u00fc"],"a":1}"#, true),
        ("application/json", #"{"a": 1}"#, #"{"a": 2}"#, false),
        ("application/json", "[1, 2]", "[2, 1]", false),
        ("application/x-www-form-urlencoded", "a=b+c&d=", "d=&a=b%20c", true),
        ("application/x-www-form-urlencoded", "a=b", "a=c", false),
        ("text/plain", "a", "a ", false),
    ])
    func bodies(type: String, recorded: String, sent: String, matches: Bool) throws {
        let url = "https://a.test/x"
        let cassette = Cassette([exchange(.post, url, body: recorded, type: type, answer: "yes")])
        let replay = ReplayTransport(cassette, on: clock)
        let found = try answers([request(.post, url, body: sent, type: type)], by: replay)
        #expect(found == [matches ? "yes" : "none"])

        var rules = ReplayRules()
        rules.comparesBodies = false
        let loose = ReplayTransport(cassette, on: clock, rules: rules)
        #expect(try answers([request(.post, url, body: sent, type: type)], by: loose) == ["yes"])
    }

    /// Multipart bodies match with another boundary.
    @Test func multipart() throws {
        func body(_ boundary: String) -> String {
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--\(boundary)--\r\n"
        }
        let cassette = Cassette([
            exchange(
                .post, "https://a.test/x", body: body("first"), type: "multipart/form-data; boundary=first",
                answer: "yes")
        ])
        let sent = try request(
            .post, "https://a.test/x", body: body("second-one"),
            type: "multipart/form-data; boundary=second-one")
        #expect(try answers([sent], by: ReplayTransport(cassette, on: clock)) == ["yes"])
    }

    /// URLs match with the pairs of the query in any order.
    @Test(arguments: [
        ("https://a.test/x?a=1&b=2", "https://A.test/x?b=2&a=1#f", true, true),
        ("https://a.test/x?a=1", "https://a.test/x?a=2", false, false),
        ("https://a.test/x", "https://b.test:81/x", false, true),
        ("https://a.test", "https://a.test/", true, true),
    ])
    func urls(recorded: String, sent: String, matches: Bool, matchesElsewhere: Bool) throws {
        let cassette = Cassette([exchange(.get, recorded, answer: "yes")])
        var rules = ReplayRules()
        let strict = try answers(
            [request(.get, sent)], by: ReplayTransport(cassette, on: clock, rules: rules))
        #expect(strict == [matches ? "yes" : "none"])
        rules.comparesOrigins = false
        let loose = try answers([request(.get, sent)], by: ReplayTransport(cassette, on: clock, rules: rules))
        #expect(loose == [matchesElsewhere ? "yes" : "none"])
    }

    /// Chosen fields are compared.
    @Test func fields() throws {
        var german = exchange(.get, "https://a.test/x", answer: "de")
        german.headerFields[.acceptLanguage] = "de"
        var english = exchange(.get, "https://a.test/x", answer: "en")
        english.headerFields[.acceptLanguage] = "en"
        var rules = ReplayRules()
        rules.comparedFields = [.acceptLanguage]
        let replay = ReplayTransport(Cassette([german, english]), on: clock, rules: rules)
        var request = try request(.get, "https://a.test/x")
        request.headerFields[.acceptLanguage] = "en"
        #expect(try answers([request, request], by: replay) == ["en", "none"])
        #expect(replay.unmatched.first?.description.contains("used before") == true)
    }

    /// Equal requests get their responses in the recorded order, others in any.
    @Test func freeOrder() throws {
        let exchanges = [
            exchange(.get, "https://a.test/x", answer: "x1"), exchange(.get, "https://a.test/y", answer: "y"),
            exchange(.get, "https://a.test/x", answer: "x2"),
        ]
        let requests = try ["y", "x", "x", "x"].map { try request(.get, "https://a.test/\($0)") }
        let strict = ReplayTransport(Cassette(exchanges), on: clock)
        #expect(try answers(requests, by: strict) == ["y", "x1", "x2", "none"])
        var rules = ReplayRules()
        rules.isStrict = false
        let loose = ReplayTransport(Cassette(exchanges), on: clock, rules: rules)
        #expect(try answers(requests, by: loose) == ["y", "x1", "x2", "x2"])
    }

    /// In the recorded order each request must match the next exchange.
    @Test func recordedOrder() throws {
        let exchanges = ["x", "y"].map { exchange(.get, "https://a.test/\($0)", answer: $0) }
        var rules = ReplayRules()
        rules.keepsOrder = true
        let replay = ReplayTransport(Cassette(exchanges), on: clock, rules: rules)
        let requests = try ["y", "x", "y"].map { try request(.get, "https://a.test/\($0)") }
        #expect(try answers(requests, by: replay) == ["none", "x", "y"])
        #expect(replay.unmatched.first?.nearest == 1)
    }

    /// When all exchanges have been used, the recorded order has no next one.
    @Test func recordedOrderAtItsEnd() throws {
        var rules = ReplayRules()
        rules.keepsOrder = true
        let cassette = Cassette([exchange(.get, "https://a.test/x", answer: "x")])
        let replay = ReplayTransport(cassette, on: clock, rules: rules)
        let requests = try ["x", "x"].map { try request(.get, "https://a.test/\($0)") }
        #expect(try answers(requests, by: replay) == ["x", "none"])
        #expect(
            replay.unmatched.first?.differences == [
                "nearest is 1 of 1, used before: GET https://a.test/x",
                "  it is the same, but was used before",
            ])
    }

    /// A strict replay names the exchanges that stayed unused.
    @Test func unused() throws {
        let exchanges = ["x", "y"].map { exchange(.get, "https://a.test/\($0)", answer: $0) }
        let replay = ReplayTransport(Cassette(exchanges), on: clock)
        _ = try answers([request(.get, "https://a.test/x")], by: replay)
        #expect(replay.unused == [2])
        let error = #expect(throws: ReplayMismatch.self) { try replay.verify() }
        #expect(
            error?.description == """
                1 of 2 exchanges of the cassette stayed unused
                  2: GET https://a.test/y
                """)
    }

    /// A request without an exchange names the differences to the nearest one.
    @Test func differences() throws {
        let cassette = Cassette([
            exchange(.get, "https://a.test/other", answer: "1"),
            exchange(
                .post, "https://a.test/login?lang=de",
                body: #"{"user": "ann", "password": "secret-1", "tags": [1, 2]}"#,
                answer: "2"),
        ])
        let replay = ReplayTransport(cassette, on: clock)
        let sent = try request(
            .post, "https://a.test/login?lang=en",
            body: #"{"tags": [1, 3], "user": "bob", "password": "hush"}"#)
        let events = try RecordedShop.events(of: sent, by: replay, on: clock)
        let text = """
            the cassette has no exchange for POST https://a.test/login?lang=en
              nearest is 2 of 2: POST https://a.test/login?lang=de
                query lang: recorded de, sent en
                body.tags[1]: recorded 2, sent 3
                body.user: recorded "ann", sent "bob"
            """
        #expect(replay.unmatched.map(\.description) == [text])
        #expect(events == ["0.0 seconds unrecorded \(text) unsent=false"])
        #expect(throws: ReplayMismatch.self) { try replay.verify() }
    }

    /// Times are as recorded, scaled, or none.
    @Test(
        arguments: [
            (1, [10, 30, 40, 40]), (2.5, [25, 75, 100, 100]), (0, [0, 0, 0, 0]), (-1, [0, 0, 0, 0]),
        ] as [(Double, [Int])])
    func timing(timeScale: Double, milliseconds: [Int]) throws {
        var rules = ReplayRules()
        rules.timeScale = timeScale
        let cassette = Cassette([exchange(.get, "https://a.test/x", answer: "x")])
        let replay = ReplayTransport(cassette, on: clock, rules: rules)
        let recorder = Recorder(replay.send(try request(.get, "https://a.test/x")), on: clock)
        try clock.run()
        #expect(recorder.events.map(\.time) == milliseconds.map { .milliseconds($0) })
    }

    /// A paused subscriber gets nothing, and a cancelled one nothing more.
    @Test func pauses() throws {
        let cassette = Cassette([exchange(.get, "https://a.test/x", answer: "x")])
        var rules = ReplayRules()
        rules.isStrict = false
        let replay = ReplayTransport(cassette, on: clock, rules: rules)
        let paused = Recorder(replay.send(try request(.get, "https://a.test/x")), on: clock)
        let cancelled = Recorder(replay.send(try request(.get, "https://a.test/x")), on: clock)
        paused.pause()
        try clock.advance(by: .milliseconds(20))
        cancelled.cancel()
        try clock.run()
        #expect(paused.events.isEmpty)
        #expect(cancelled.events.count == 1)
        paused.resume()
        try clock.run()
        #expect(paused.isFinished)
        #expect(clock.pendingCount == 0)
    }

    /// Contents that count as equal are no difference.
    @Test func equalContents() throws {
        let cassette = Cassette([
            exchange(
                .post, "https://a.test/x", body: "--A\r\n\r\na\r\n--A--", type: "multipart/mixed; boundary=A",
                answer: "1")
        ])
        let replay = ReplayTransport(cassette, on: clock)
        let other = try request(
            .post, "https://a.test/y", body: "--B\r\n\r\na\r\n--B--", type: "multipart/mixed; boundary=B")
        _ = try RecordedShop.events(of: other, by: replay, on: clock)
        let differences = try #require(replay.unmatched.first?.differences)
        #expect(differences.count == 2 && differences[1].contains("URL: "), "\(differences)")
    }
}
