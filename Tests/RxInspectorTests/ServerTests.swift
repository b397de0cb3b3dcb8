#if Inspector
import HTTPTypes
@testable import RxClient
import RxHTTP
import RxNetworking
import RxTesting
import TestServers
import Testing

@testable import RxInspector

/// The server and the protocol, over real connections.
@Suite(.timeLimit(.minutes(2))) struct ServerTests {
    /// A client with scripted responses in virtual time.
    private func client(_ rules: [ScriptedTransport.Rule]) -> (Client, VirtualScheduler) {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(on: clock, rules)
        return (
            Client(baseURL: "https://a.test", transport: transport), clock
        )
    }

    // MARK: - Addresses

    @Test func theTargetIsListedBehindTheToken() async throws {
        let inspector = try await Inspector.start()
        let list = try await Client(baseURL: inspector.pageURL).get("json/list").value().text
        let targets = try #require(JSON(parsing: list)?.elements)
        #expect(targets.count == 1)
        #expect(targets[0]["webSocketDebuggerUrl"] == .string(inspector.webSocketURL))
        #expect(targets[0]["devtoolsFrontendUrl"] == .string(inspector.devToolsURL))
        let version = try await Client(baseURL: inspector.pageURL).get("json/version").value().text
        #expect(JSON(parsing: version)?["Protocol-Version"] == "1.3")
        await inspector.stop()
    }

    @Test func theListNamesTheClients() async throws {
        let (client, _) = client([])
        let inspector = try await Inspector.start()
        inspector.inspect(client, named: "orders")
        func target() async throws -> JSON? {
            JSON(parsing: try await Client(baseURL: inspector.pageURL).get("json").value().text)?.elements?
                .first
        }
        #expect(try await target()?["clients"] == ["orders"])
        #expect(try await target()?["title"]?.string?.hasSuffix(" (orders)") == true)
        do {
            let more = (0..<4).map { _ in self.client([]).0 }
            for client in more { inspector.inspect(client) }
            #expect(
                try await target()?["clients"] == ["orders", "a.test", "a.test 2", "a.test 3", "a.test 4"])
            #expect(
                try await target()?["title"]?.string?.hasSuffix(" (orders, a.test, a.test 2, a.test 3, …)")
                    == true)
            withExtendedLifetime(more) {}
        }
        // Not those of the past.
        #expect(try await target()?["clients"] == ["orders"])
        withExtendedLifetime(client) {}
        await inspector.stop()
    }

    @Test(arguments: [false, true])
    func theListWithoutTheTokenIsAChoice(isListed: Bool) async throws {
        let inspector = try await Inspector.start(isListed: isListed)
        let answer = try await answer(inspector, "GET /json/list HTTP/1.1", "Host: localhost")
        #expect(answer.hasPrefix(isListed ? "HTTP/1.1 200" : "HTTP/1.1 404"))
        let page = try await self.answer(
            inspector, "GET /devtools/page/\(inspector.site.targetID) HTTP/1.1", "Host: localhost")
        #expect(page.hasPrefix("HTTP/1.1 404"))
        await inspector.stop()
    }

    @Test func foreignersAreRefused() async throws {
        let inspector = try await Inspector.start()
        let path = "/\(inspector.site.token)/json/list"
        for (lines, status) in [
            (["GET \(path) HTTP/1.1", "Host: 127.0.0.1"], 200),
            (["GET \(path) HTTP/1.1", "Host: 127.0.0.1", "Origin: devtools://devtools"], 200),
            (["GET \(path) HTTP/1.1", "Host: evil.test"], 403),
            (["GET \(path) HTTP/1.1"], 403),
            (["GET \(path) HTTP/1.1", "Host: 127.0.0.1", "Origin: http://evil.test"], 403),
            (["GET /\(inspector.site.token.dropLast())x/json/list HTTP/1.1", "Host: 127.0.0.1"], 404),
            (["GET / HTTP/1.1", "Host: 127.0.0.1"], 404),
            (["POST \(path) HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 0"], 405),
            (["GET /\(inspector.site.token)/devtools/page/x HTTP/1.1", "Host: 127.0.0.1"], 404),
            (
                [
                    "GET /\(inspector.site.token)/devtools/page/\(inspector.site.targetID) HTTP/1.1",
                    "Host: 127.0.0.1",
                ], 400
            ),
        ] {
            let answer = try await answer(inspector, lines)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(lines): \(answer)")
            #expect(!answer.lowercased().contains("access-control"), "no other site may read a response")
        }
        await inspector.stop()
    }

    private func answer(_ inspector: Inspector, _ lines: String...) async throws -> String {
        try await answer(inspector, lines)
    }

    private func answer(_ inspector: Inspector, _ lines: [String]) async throws -> String {
        let text = (lines + ["Connection: close", "", ""]).joined(separator: "\r\n")
        return try await PlainClient.exchange(text, port: inspector.port)
    }

    @Test func aTakenPortIsAnError() async throws {
        let inspector = try await Inspector.start()
        let port = inspector.port
        await #expect(throws: NetworkError.self) { try await Inspector.start(port: port) }
        await inspector.stop()
    }

    @Test(arguments: [nil, "", "0", "off", "OFF", "false", "no", "No"])
    func theEnvironmentSwitchesTheInspectorOff(value: String?) async throws {
        #expect(try await Inspector.start(ifAskedBy: value, [], settings: Inspector.Settings()) == nil)
    }

    @Test(arguments: ["true", "yes", "on", "2", "80", "00", "-1", "+8080", " 1", "65536", "off ", "http"])
    func aMistypedEnvironmentStartsNothing(value: String) async throws {
        await #expect(throws: NetworkError.self) {
            try await Inspector.start(ifAskedBy: value, [], settings: Inspector.Settings())
        }
    }

    @Test func theEnvironmentNamesThePort() async throws {
        let (client, _) = client([])
        var settings = Inspector.Settings()
        settings.port = 1
        let first = try #require(
            try await Inspector.start(ifAskedBy: "1", [client], settings: settings), "any free port")
        let port = first.port
        #expect(client.trafficHub.isObserved)
        await first.stop()
        let second = try #require(
            try await Inspector.start(ifAskedBy: "\(port)", [], settings: Inspector.Settings()))
        #expect(second.port == port)
        await second.stop()
    }

    @Test func printingForLogsHidesTheToken() async throws {
        let inspector = try await Inspector.start()
        #expect("\(inspector)".contains(inspector.site.token))
        var dumped = ""
        dump(inspector, to: &dumped)
        #expect(!(dumped + inspector.debugDescription).contains(inspector.site.token))
        await inspector.stop()
    }

    // MARK: - Commands

    @Test func malformedAndUnknownCommandsAreAnswered() async throws {
        let inspector = try await Inspector.start()
        let probe = FrontEndProbe(inspector)
        #expect(try await probe.call("Network.noSuchThing")["error"]?["code"] == -32601)
        #expect(try await probe.call("NoDomain.enable")["error"]?["code"] == -32601)
        #expect(try await probe.call("Network.getResponseBody")["error"]?["code"] == -32602)
        #expect(
            try await probe.call("Network.getResponseBody", ["requestId": "9"])["error"]?["code"] == -32000)
        #expect(
            try await probe.call("Network.setCacheDisabled", ["cacheDisabled": "x"])["error"]?["code"]
                == -32602)
        #expect(
            try await probe.call("Network.emulateNetworkConditions", ["offline": false, "latency": -1])[
                "error"]?["code"]
                == -32602)
        for (text, code) in [("{", -32700), ("[]", -32600), (#"{"id":1}"#, -32600)] as [(String, JSON)] {
            try await probe.send(text)
            #expect(try await probe.next()?["error"]?["code"] == code)
        }
        #expect(
            try await probe.call("Page.getResourceTree")["result"]?["frameTree"]?["frame"]?["id"] == "main")
        await inspector.stop()
    }

    @Test func requestsAreShownAsTheyHappen() async throws {
        let (client, clock) = client([.when(.get, "/goods", .json("[1, 2]"))])
        let inspector = try await Inspector.start(client)
        let probe = FrontEndProbe(inspector)
        try await probe.call("Network.enable")
        let recorder = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(recorder.values.count == 1)
        let request = try await probe.event("requestWillBeSent")
        #expect(request["request"]?["url"] == "https://a.test/goods")
        _ = try await probe.event("loadingFinished")
        let id = try #require(request["requestId"])
        let body = try await probe.call("Network.getResponseBody", ["requestId": id])
        #expect(body["result"]?["body"] == "[1, 2]")
        #expect(body["result"]?["base64Encoded"] == false)
        #expect(
            try await probe.call("Network.getRequestPostData", ["requestId": id])["error"]?["code"] == -32000)
        await inspector.stop()
    }

    @Test func aSecondFrontEndSeesTheSame() async throws {
        let (client, clock) = client([.when(.get, "/goods", .json("1"))])
        let inspector = try await Inspector.start(client)
        let first = FrontEndProbe(inspector)
        try await first.call("Network.enable")
        _ = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        let id = try await first.event("requestWillBeSent")["requestId"]
        _ = try await first.event("loadingFinished")
        let second = FrontEndProbe(inspector)
        try await second.call("Network.enable")
        #expect(try await second.event("requestWillBeSent")["requestId"] == id)
        _ = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        let next = try await first.event("requestWillBeSent")["requestId"]
        _ = try await second.event("loadingFinished")
        #expect(try await second.event("requestWillBeSent")["requestId"] == next)
        try await first.call("Network.disable")
        _ = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        _ = try await second.event("loadingFinished")
        #expect(try await first.call("Network.enable")["result"] == [:])
        await inspector.stop()
    }

    @Test func settingsEndWithTheFrontEnd() async throws {
        let (client, _) = client([])
        let inspector = try await Inspector.start(client)
        let staying = FrontEndProbe(inspector)
        try await staying.call("Network.setCacheDisabled", ["cacheDisabled": true])
        #expect(client.developerTools.isCacheDisabled)
        do {
            let leaving = FrontEndProbe(inspector)
            try await leaving.call(
                "Network.emulateNetworkConditions",
                ["offline": false, "latency": 20, "downloadThroughput": 1000, "uploadThroughput": -1])
            #expect(
                client.developerTools.network
                    == EmulatedNetwork(latency: .milliseconds(20), downloadRate: 1000))
            try await leaving.call(
                "Network.emulateNetworkConditionsByRule",
                ["offline": true, "matchedNetworkConditions": [["urlPattern": "", "latency": 0]]])
            #expect(client.developerTools.network?.isOffline == true)
        }
        // The connection of the front end that left is closed by its release; the server notices in time.
        while client.developerTools.network != nil { try await staying.call("Network.canClearBrowserCache") }
        #expect(client.developerTools.isCacheDisabled)
        await inspector.stop()
        #expect(!client.developerTools.isCacheDisabled)
    }

    @Test func aClientIsInspectedOnce() async throws {
        let (client, clock) = client([.when(.get, "/goods", .json("1"))])
        let inspector = try await Inspector.start(client)
        inspector.inspect(client)
        let probe = FrontEndProbe(inspector)
        try await probe.call("Network.enable")
        _ = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        let first = try await probe.event("requestWillBeSent")["requestId"]
        _ = try await probe.event("loadingFinished")
        _ = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(try await probe.event("requestWillBeSent")["requestId"] != first)
        await inspector.stop()
    }

    @Test func stoppingEndsConnectionsAndFollowing() async throws {
        let (client, clock) = client([.when(.get, "/goods", .json("1"))])
        let inspector = try await Inspector.start(client)
        let probe = FrontEndProbe(inspector)
        try await probe.call("Network.enable")
        await inspector.stop()
        await #expect(throws: (any Error).self) { _ = try await probe.event("requestWillBeSent") }
        let traffic = client.trafficHub
        #expect(!traffic.isObserved)
        inspector.inspect(client)
        #expect(!traffic.isObserved)
        await #expect(throws: SystemError.self) { try await PlainClient.exchange("", port: inspector.port) }
        let recorder = Recorder(client.get("/goods"), on: clock)
        try clock.run()
        #expect(recorder.values.count == 1)
    }
}
#endif
