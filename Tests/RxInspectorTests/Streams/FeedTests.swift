#if Inspector
import FoundationEssentials
import HTTPTypes
@testable import RxInspector
import RxNetworking
import RxTesting
import Testing

extension StreamTests {
    @Suite(.timeLimit(.minutes(1))) struct FeedTests {
        @Test func thePageRunsOnlyItsOwnScript() async throws {
            let inspector = try await Inspector.startForTests()
            let response = try await Client(baseURL: inspector.pageURL).get("").value()
            let policy = try #require(response.head.headerFields[HTTPField.Name("Content-Security-Policy")!])
            #expect(policy.hasPrefix("default-src 'none'; script-src 'nonce-"))
            let nonce = try #require(policy.firstMatch(of: #/script-src 'nonce-(\w+)'/#)?.1)
            let text = response.text
            #expect(text.matches(of: #/ nonce="(\w+)"/#).map { $0.1 } == [nonce, nonce])
            #expect(
                text.matches(of: #/<script|<style|rel="stylesheet"| on\w+="|javascript:/#).map { $0.0 } == [
                    "rel=\"stylesheet\"", "<script",
                ])
            #expect(!text.contains("{{"))
            let other = try await Client(baseURL: inspector.pageURL).get("").value()
            let otherPolicy = other.head.headerFields[HTTPField.Name("Content-Security-Policy")!] ?? ""
            #expect(!otherPolicy.isEmpty && !otherPolicy.contains(nonce))
            await inspector.stop()
        }

        @Test func thePageLoadsItsFiles() async throws {
            let inspector = try await Inspector.startForTests()
            let client = Client(baseURL: inspector.pageURL)
            var (known, names) = (Set<String>(), ["page.css", "page.js"])
            while let name = names.popLast() {
                guard known.insert(name).inserted else { continue }
                let response = try await client.get(name).value()
                let type = name.hasSuffix(".css") ? "text/css" : "text/javascript"
                #expect(response.head.headerFields[.contentType] == "\(type); charset=UTF-8")
                #expect(response.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 400)
                names += response.text.matches(of: #/from "(.+)";/#).map { String($0.1.trimmingPrefix("./")) }
            }
            #expect(known == Set(StreamPage.files.map { $0.name }))
            await inspector.stop()
        }

        @Test func thePageNeedsTheToken() async throws {
            let inspector = try await Inspector.startForTests()
            let root = inspector.pageURL.split(separator: "/").prefix(2).joined(separator: "//")
            for path in ["/", "/page.js", "/streams", "/har", "/request?1", "/panel?1"] {
                await #expect(throws: NetworkError.self) { try await Client(baseURL: root).get(path).value() }
            }
            await inspector.stop()
        }

        @Test func streamsReachThePage() async throws {
            let inspector = try await Inspector.startForTests()
            let count = MutableProperty(3).inspected("count")
            let reader = FeedReader(inspector)
            await reader.wait { !$0.all.isEmpty }
            let words = Signal<String>().inspected("words")
            let subscription = words.observable.flatMap { Observable<Int, Never>.just($0.count) }.subscribe()
            words.send("<b>tea</b>\n\"\u{2028}")
            count.value = 4
            await reader.wait { $0.events.contains { $0 == ("count", "value", "4") } }
            let events = reader.events
            #expect(events.contains { $0 == ("count", "value", "3") })
            #expect(events.contains { $0 == ("words", "value", "<b>tea</b>\n\"\u{2028}") })
            #expect(events.contains { $0 == ("flatMap", "value", "13") })
            #expect(events.contains { $0 == ("flatMap", "finished", "") })
            subscription.cancel()
            await inspector.stop()
        }

        @Test func aRequestNamesTheMarbleThatLedToIt() async throws {
            let inspector = try await Inspector.startForTests()
            // The inspector is the server, too.
            let client = Client(baseURL: inspector.pageURL)
            inspector.inspect(client)
            let reader = FeedReader(inspector)
            await reader.wait { !$0.all.isEmpty }
            let taps = Signal<Int>().inspected("taps")
            let subscription = taps.observable.flatMap { _ in
                client.get("json/version", query: ["token": "secret"])
            }.subscribe()
            taps.send(4711)
            await reader.wait { $0.requests.values.contains { $0["end"]?.number != nil } }
            let request = try #require(reader.requests.values.first)
            #expect(request["status"]?.integer == 200)
            #expect(request["state"]?.string == "succeeded")
            let url = try #require(request["url"]?.string)
            #expect(!url.contains("secret"))
            let marbles = reader.all.flatMap { $0["events"]?.elements ?? [] }
                .filter { $0["k"]?.string == "value" && $0["text"]?.string == "4711" }.map {
                    $0["marble"]?.integer
                }
            #expect(marbles == [request["marble"]?.integer])
            subscription.cancel()
            await inspector.stop()
        }

        @Test func theArchiveHasTheMessagesOfWebSockets() async throws {
            let clock = VirtualScheduler()
            let script = ScriptedWebSocket([
                .receive, .send(.text(#"{"token":"canary7","ok":1}"#)), .send(.binary([1])),
            ])
            let client = Client(
                baseURL: "https://a.test",
                transport: ScriptedTransport(on: clock, [.when(.get, "/live", .webSocket(script))]))
            let inspector = try await Inspector.startForTests(client)
            let sink = WebSocketSink()
            let recorder = Recorder(client.webSocket("/live", sending: sink), on: clock)
            let sent = Recorder(sink.send("hi"), on: clock)
            try clock.advance(by: .seconds(1))
            // The same while it is open, and when it has ended.
            for _ in 0..<2 {
                let text = try await Client(baseURL: inspector.pageURL).get("har").value().text
                #expect(!text.contains("canary7"))
                let entry = try #require(
                    try JSONDecoder().decode(HAR.self, from: Data(text.utf8)).log.entries.first)
                #expect(entry.resourceType == "websocket")
                #expect(entry.response.status == 101)
                #expect(entry.response.content.size == 0)
                let messages = entry.webSocketMessages ?? []
                #expect(messages.map(\.type) == [.send, .receive, .receive])
                #expect(messages.map(\.opcode) == [1, 1, 2])
                #expect(messages.map(\.data) == ["hi", #"{"token":"…","ok":1}"#, "AQ=="])
                recorder.cancel()
                sent.cancel()
                try clock.advance(by: .seconds(30))
            }
            await inspector.stop()
        }

        @Test func aPageThatHasSkippedMessagesBeginsAgain() async throws {
            let outbox = MessageOutbox(byteLimit: 1 << 30)
            let sampling = RequestSampling(nil)
            let feed = StreamFeed(InspectedClients(sampling), sampling, Inspector.Settings())
            let viewer = Viewer(outbox, feed)
            let long = JSON.string(String(repeating: "a", count: StreamFeed.backlog))
            viewer.send(["text": long]) { "nothing was skipped" }
            viewer.send(["text": "skipped"]) { "too early" }
            #expect(try #require(await outbox.next()).count > StreamFeed.backlog)
            async let next = outbox.next()
            while outbox.waitingCount > StreamFeed.backlog { await Task.yield() }
            viewer.send(["text": "a batch"]) { ["text": "the beginning"] }
            let text = String(decoding: try #require(await next).dropFirst(2), as: UTF8.self)
            #expect(text == #"{"text":"the beginning","missed":1}"#)
            feed.stop()
        }

        @Test func aPageThatBeginsAgainIsSentTheStates() async throws {
            let outbox = MessageOutbox(byteLimit: 1 << 30)
            let sampling = RequestSampling(nil)
            let feed = StreamFeed(
                InspectedClients(sampling), sampling, Inspector.Settings(), textLimit: .seconds(60))
            let count = MutableProperty(4711).inspected("count")
            let viewer = Viewer(outbox, feed)
            feed.add(viewer)
            viewer.send(["text": .string(String(repeating: "a", count: StreamFeed.backlog))]) { [:] }
            viewer.send(["text": "skipped"]) { [:] }
            _ = await outbox.next()
            async let next = outbox.next()
            // Until the message above is written. The feed's own batch may come before the one below.
            while outbox.waitingCount > StreamFeed.backlog { await Task.yield() }
            feed.tick()
            var text = String(decoding: try #require(await next), as: UTF8.self)
            // The values come in a message of their own, and the feed sends batches meanwhile.
            for _ in 0..<100 where !text.contains(#""text":"4711""#) {
                text += String(decoding: try #require(await outbox.next()), as: UTF8.self)
            }
            #expect(text.contains(#""text":"4711""#))
            #expect(text.contains(#""type":"hello""#))
            feed.stop()
            count.value = 0
        }

        @Test func requestsAboveTheRateAreCounted() async throws {
            var settings = Inspector.Settings()
            settings.requestsPerSecond = 2
            let clock = VirtualScheduler()
            let client = Client(
                configuration: ClientConfiguration(baseURL: "https://a.test"),
                transport: ScriptedTransport(on: clock, [.when(.get, "/goods", .json("1"))]))
            let inspector = try await Inspector.start([client], settings)
            let panel = FrontEndProbe(inspector)
            try await panel.call("Network.enable")
            let count = 20
            for _ in 0..<count {
                let recorder = Recorder(client.get("/goods"), on: clock)
                try clock.run()
                #expect(recorder.values.count == 1)
            }
            let reader = FeedReader(inspector)
            await reader.wait { !$0.all.isEmpty }
            let omitted = try #require(reader.all.first?["omitted"]?.integer)
            #expect(omitted > 0)
            #expect(reader.requests.count + omitted == count)
            // The panel that was open, and one that is opened later.
            for front in [panel, FrontEndProbe(inspector)] {
                if front !== panel { try await front.call("Network.enable") }
                let entry = try await front.event("Log.entryAdded")["entry"]
                let text = """
                    Requests that are not shown so far: \(omitted). The inspector shows about 2 a second \
                    (requestsPerSecond), and none while it is behind.
                    """
                #expect(entry?["text"]?.string == text)
            }
            await inspector.stop()
        }

        @Test func clientsHaveNames() async throws {
            let clock = VirtualScheduler()
            let clients = (0..<4).map { _ in
                Client(
                    baseURL: "https://a.test",
                    transport: ScriptedTransport(on: clock, [.when(.get, "/goods", .json("1"))]))
            }
            let inspector = try await Inspector.startForTests(clients[0])
            inspector.inspect(clients[1])
            inspector.inspect(clients[2], named: "shop")
            inspector.inspect(clients[3], named: "shop")
            // It has a name already.
            inspector.inspect(clients[0], named: "other")
            for client in clients { _ = Recorder(client.get("/goods"), on: clock) }
            try clock.run()
            let reader = FeedReader(inspector)
            await reader.wait { !$0.all.isEmpty }
            let names = ["a.test", "a.test 2", "shop", "shop 2"]
            #expect(reader.all.first?["clients"]?.elements?.compactMap { $0["name"]?.string } == names)
            #expect(
                reader.all.first?["requests"]?.elements?.compactMap { $0["client"]?.string } == names)
            await inspector.stop()
        }

        /// The exchanges of a request, as the page asks for them.
        private func exchanges(of number: String, _ inspector: Inspector) async throws -> JSON {
            let text = try await Client(baseURL: "").get("\(inspector.pageURL)request?\(number)").value().text
            return try #require(JSON(parsing: text))
        }

        @Test func theCommandOfARequestIsTheLibrarysOwn() async throws {
            let clock = VirtualScheduler()
            let client = Client(
                baseURL: "https://a.test",
                transport: ScriptedTransport(
                    on: clock,
                    [
                        .when(
                            .post, "/login", .status(.seeOther, headers: [.location: "/goods?token=canary1"])),
                        .when(.get, "/goods", .json(#"{"token":"canary2","name":"tea's"}"#)),
                    ]))
            var settings = Inspector.Settings()
            settings.bodyLimit = 40
            let inspector = try await Inspector.start([client], settings)
            let sent = Recorder(client.traffic, on: clock)
            let bodies = [#"{"password":"canary3","tea":"it's"}"#, String(repeating: "a", count: 41)]
            for body in bodies {
                _ = Recorder(client.post("/login", .text(body)), on: clock)
                try clock.run()
            }
            _ = Recorder(client.get("/goods", headers: ["Authorization": "Bearer canary4"]), on: clock)
            try clock.run()
            let requests = sent.values.filter { if case .sent = $0.kind { true } else { false } }.map(
                \.request)
            #expect(requests.map(\.method) == [.post, .get, .post, .get, .get])
            let last = try await exchanges(of: "\(requests[4].id.rawValue)", inspector)
            #expect(last["curl"]?.string == requests[4].curlCommand())
            let first = try await exchanges(of: "\(requests[0].id.rawValue)", inspector)
            // The request as it was sent last, after the redirect.
            #expect(first["curl"]?.string == requests[1].curlCommand())
            let entries = try #require(first["entries"]?.elements)
            #expect(entries.map { $0["response"]?["status"]?.integer } == [303, 200])
            #expect(entries[1]["response"]?["content"]?["text"]?.string == #"{"token":"…","name":"tea's"}"#)
            for text in [last, first].map({ String(decoding: $0.bytes, as: UTF8.self) }) {
                #expect(!text.contains("canary"))
            }
            for number in ["", "0", "-1", "x", "99999999999999999999999"] {
                await #expect(throws: NetworkError.self) { try await exchanges(of: number, inspector) }
            }
            await inspector.stop()
        }

        @Test(arguments: [34, 41]) func aBodyIsWholeInTheCommandOrNotThere(count: Int) async throws {
            let clock = VirtualScheduler()
            let client = Client(
                baseURL: "https://a.test",
                transport: ScriptedTransport(on: clock, [.when(.post, "/goods", .json("1"))]))
            var settings = Inspector.Settings()
            settings.bodyLimit = 40
            let inspector = try await Inspector.start([client], settings)
            let sent = Recorder(client.traffic, on: clock)
            _ = Recorder(client.post("/goods", .text(String(repeating: "a", count: count))), on: clock)
            try clock.run()
            let id = try #require(sent.values.first?.request.id.rawValue)
            let command = try #require(try await exchanges(of: "\(id)", inspector)["curl"]?.string)
            let whole = "--data-raw '\(String(repeating: "a", count: count))'"
            #expect(command.contains(count <= 40 ? whole : "--data-binary @-"))
            #expect(command.contains("--data-raw") == (count <= 40))
            await inspector.stop()
        }

        @Test func thePanelIsToldOfARow() async throws {
            let clock = VirtualScheduler()
            let client = Client(
                baseURL: "https://a.test",
                transport: ScriptedTransport(on: clock, [.when(.get, "/goods", .json("1"))]))
            let inspector = try await Inspector.startForTests(client)
            let sent = Recorder(client.traffic, on: clock)
            _ = Recorder(client.get("/goods", query: ["token": "canary5"]), on: clock)
            try clock.run()
            let id = try #require(sent.values.first?.request.id.rawValue)
            func tell() async throws -> JSON? {
                JSON(
                    parsing: try await Client(baseURL: "").get("\(inspector.pageURL)panel?\(id)").value().text
                )
            }
            let closed = try await tell()
            #expect(closed?["panels"]?.integer == 0)
            #expect(closed?["address"]?.string == inspector.devToolsURL)
            let panel = FrontEndProbe(inspector)
            try await panel.call("Network.enable")
            let row = try await panel.event("requestWillBeSent")
            for isOpen in [false, true] {
                // Asked for before the panel was open, and again.
                if isOpen { #expect(try await tell()?["panels"]?.integer == 1) }
                let entry = try await panel.event("Log.entryAdded")["entry"]
                #expect(entry?["networkRequestId"] == row["requestId"])
                // The panel makes a link of an address that is exactly the row's.
                #expect(entry?["text"] == row["request"]?["url"])
                #expect(entry?["text"]?.string?.contains("canary5") == false)
            }
            // Another one is told of nothing.
            let other = FrontEndProbe(inspector)
            try await other.call("Network.enable")
            #expect(!other.events.contains { $0["method"] == "Log.entryAdded" })
            await inspector.stop()
        }

        @Test func theStateOfTheClientsIsShown() async throws {
            var configuration = ClientConfiguration(baseURL: "https://a.example:8443/v1")
            configuration.circuitBreaker = CircuitBreaker.Policy()
            configuration.limits = RequestLimits(concurrency: 1)
            configuration.session = Session(credential: Credential(token: "secret")) { .never() }
            let client = Client(
                configuration: configuration, transport: ScriptedTransport(on: VirtualScheduler(), []))
            let inspector = try await Inspector.startForTests(client)
            let reader = FeedReader(inspector)
            await reader.wait { !$0.all.isEmpty }
            let state = try #require(reader.all.first?["clients"]?.elements?.first)
            #expect(state["name"]?.string == "a.example:8443")
            let circuit = try #require(state["circuits"]?.elements?.first)
            #expect(circuit["server"] == "main")
            #expect(circuit["state"] == "closed")
            #expect(state["limiter"] == ["waiting": 0])
            #expect(state["session"]?["state"] == "logged in")
            #expect(state["session"]?["generation"]?.integer == 0)
            await inspector.stop()
        }

        @Test func nothingIsRecordedWithoutAPage() async throws {
            let inspector = try await Inspector.startForTests()
            let words = Signal<String>()
            let subscription = words.observable.inspected("quiet") { _ in
                Issue.record("nobody watches")
                return ""
            }.subscribe()
            words.send("tea")
            let reader = FeedReader(inspector)
            await reader.wait { !$0.all.isEmpty }
            let track = try #require(
                reader.all.first?["tracks"]?.elements?.first { $0["name"]?.string == "quiet" })
            #expect(track["count"]?.integer == 1)
            subscription.cancel()
            await inspector.stop()
        }

        @Test func theArchiveHoldsTheExchanges() async throws {
            let inspector = try await Inspector.startForTests()
            let client = Client(baseURL: inspector.pageURL)
            inspector.inspect(client)
            _ = try await client.get("json/version").value()
            await #expect(throws: NetworkError.self) {
                try await client.post("nothing", ["password": "canary7", "tea": "oolong"]).value()
            }
            let text = try await Client(baseURL: inspector.pageURL).get("har").value().text
            let archive = try JSONDecoder().decode(HAR.self, from: Data(text.utf8))
            #expect(
                archive.log.entries.map(\.request.url) == [
                    "\(inspector.pageURL)json/version", "\(inspector.pageURL)nothing",
                ])
            #expect(archive.log.entries.map(\.response.status) == [200, 405])
            let (first, last) = (archive.log.entries[0], archive.log.entries[1])
            #expect(first.response.content.text?.contains("Protocol-Version") == true)
            #expect(last.request.postData?.text == #"{"password":"…","tea":"oolong"}"#)
            #expect(last.request.bodySize == 37)
            await inspector.stop()
        }
    }
}
#endif
