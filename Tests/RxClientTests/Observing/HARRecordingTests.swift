import Foundation
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxClient
@testable import RxHAR

/// The content of recordings, and its conformance to the format.
@Suite struct HARRecordingTests {
    private let clock = VirtualScheduler(startingAt: Date(timeIntervalSince1970: 784_111_777))

    private func client(_ rules: [ScriptedTransport.Rule]) -> Client {
        var configuration = ClientConfiguration(baseURL: "https://a.test")
        configuration.options.retry = .exponentialBackoff(backoff: .constant(.milliseconds(50)))
        return Client(configuration: configuration, transport: ScriptedTransport(on: clock, rules))
    }

    private func recording(
        of client: Client, bodyLimit: Int = 0, entryLimit: Int = 1000, byteLimit: Int = 16 << 20
    )
        -> HARRecording
    {
        HARRecording(
            of: client.traffic, bodyLimit: bodyLimit, entryLimit: entryLimit, byteLimit: byteLimit)
    }

    @Test(arguments: [0, 5, 1000])
    func theDocumentIsWhatTheFormatAsksFor(bodyLimit: Int) throws {
        let client = client([
            .when(.get, "/json", .json("[1,2]", after: .milliseconds(5))),
            .when(.get, "/there", .status(.found, headers: [.location: "/json"])),
            .when(.get, "/broken", .failure(.connectionLost, after: .milliseconds(1)), .status(.noContent)),
            .when(
                .get, "/half",
                .steps(
                    .head(ResponseHead(status: .ok)), .chunk([1, 2, 3]), .wait(.milliseconds(1)),
                    .fail(NetworkError(.partialBody, "half")))),
            .when(.get, "/png", .bytes(Array(0...255), headers: [.contentType: "image/png"])),
            .when(
                .post, "/form",
                .json(
                    "{}",
                    headers: [
                        .setCookie:
                            "a=b; Path=/; Domain=a.test; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Secure; HttpOnly"
                    ])),
            .when(.get, "/wait", .stall),
        ])
        let recording = recording(of: client, bodyLimit: bodyLimit)
        let calls = [
            client.get("/json", query: ["a": "b c", "d": ["e", "f"]], headers: ["Cookie": "x=1; y=2"]),
            client.get("/there"), client.get("/broken"), client.get("/half"), client.get("/png"),
            client.post("/form", .form(["name": "tea", "password": "7"])),
            client.post("/form", .json(["a": 1])),
            client.post("/form", .text("long enough to be cut off")),
        ]
        let waiting = client.get("/wait", options: RequestOptions(timeouts: .unlimited))
        let recorders = (calls + [waiting]).map { Recorder($0, on: clock) }
        try clock.run()
        recorders.last?.cancel()
        let document = try recording.archive.encoded()
        let flaws = try HARRules.flaws(in: document)
        #expect(flaws.isEmpty, "\(flaws)")
        #expect(recording.archive.log.entries.count == 13)
        #expect(try JSONDecoder().decode(HAR.self, from: document) == recording.archive)
    }

    @Test func theRulesFindFlaws() throws {
        let client = client([.when(.get, "/json", .json("[1,2]"))])
        let recording = recording(of: client)
        _ = Recorder(client.get("/json"), on: clock)
        try clock.run()
        let document = String(decoding: try recording.archive.encoded(), as: UTF8.self)
        for (right, wrong) in [
            ("\"1.2\"", "\"1.3\""), ("\"method\"", "\"verb\""), ("\"wait\" : ", "\"wait\" : 1"),
            ("\"startedDateTime\" : \"", "\"startedDateTime\" : \"on "),
            ("\"cookies\" : [", "\"cookies\" : [1"),
            ("\"status\" : 200", "\"status\" : \"200\""), ("\"send\" : 0", "\"send\" : -1"),
            ("\"mimeType\"", "\"encoding\" : \"hex\", \"mimeType\""),
        ] {
            let broken = document.replacing(right, with: wrong)
            #expect(broken != document, "\(right)")
            #expect(try !HARRules.flaws(in: Data(broken.utf8)).isEmpty, "\(wrong)")
        }
    }

    @Test func entriesSayWhatWasSentAndWhatCameBack() throws {
        let client = client([
            .when(
                .post, "/x",
                .json(
                    #"{"ok":true,"token":"s7"}"#, headers: [.contentType: "application/json"],
                    after: .milliseconds(5)))
        ])
        let recording = recording(of: client, bodyLimit: 100)
        let answer = Recorder(
            client.post("/x", .json(["name": "tea", "password": "s7"]), query: ["a": "b c", "token": "s7"]),
            on: clock)
        try clock.run()
        let entry = try #require(recording.archive.log.entries.first)
        #expect(entry.startedDateTime == "1994-11-06T08:49:37.000Z")
        #expect(entry.request.method == "POST")
        #expect(entry.request.url == "https://a.test/x?a=b%20c&token=…")
        #expect(
            entry.request.queryString == [.init(name: "a", value: "b c"), .init(name: "token", value: "…")])
        #expect(entry.request.postData?.text == #"{"name":"tea","password":"…"}"#)
        #expect(entry.request.bodySize == 30)
        #expect(entry.response.status == 200)
        #expect(entry.response.content.text == #"{"ok":true,"token":"…"}"#)
        #expect(entry.response.content.size == 24)
        #expect(entry.requestID == "\(try #require(answer.values.first).request.id)")
        #expect(entry.attempt == 1)
        #expect(entry.error == nil)
    }

    @Test func attemptsAndHopsAreEntriesInTheOrderOfTheirBeginnings() throws {
        let client = client([
            .when(.get, "/slow", .json("[]", after: .seconds(1))),
            .when(
                .get, "/1", .failure(.connectionLost), .status(.found, headers: [.location: "/2?token=s7"])),
            .when(.get, "/2", .json("[]")),
        ])
        let recording = recording(of: client)
        _ = Recorder(client.get("/slow"), on: clock)
        _ = Recorder(client.get("/1"), on: clock)
        try clock.run()
        let entries = recording.archive.log.entries
        #expect(entries.map { $0.request.url.dropFirst(14) } == ["/slow", "/1", "/1", "/2?token=…"])
        #expect(entries.map(\.attempt) == [1, 1, 2, 2])
        #expect(entries.map(\.response.status) == [200, 0, 302, 200])
        #expect(entries[1].error?.hasPrefix("connectionLost") == true)
        #expect(entries[2].response.redirectURL == "/2?token=…")
        #expect(entries[0].time == 1000)
        #expect(entries[0].timings.wait == 1000)
    }

    @Test func memoryIsBounded() throws {
        let client = client([
            .when(
                .get, "*",
                .bytes(Array(repeating: 0x61, count: 10_000), headers: [.contentType: "text/plain"]))
        ])
        let few = recording(of: client, bodyLimit: 100, entryLimit: 10)
        let small = recording(of: client, bodyLimit: 100_000, byteLimit: 100_000)
        let none = recording(of: client, entryLimit: 0)
        for index in 0..<100 { _ = Recorder(client.get("/\(index)"), on: clock) }
        try clock.run()
        #expect(few.archive.log.entries.map { $0.request.url.dropFirst(14) } == (90..<100).map { "/\($0)" })
        #expect(few.archive.log.entries.allSatisfy { $0.response.content.text?.utf8.count == 100 })
        #expect(few.archive.log.entries.allSatisfy { $0.response.content.comment == "the first 100 bytes" })
        let kept = small.archive.log.entries
        #expect((5...9).contains(kept.count))
        #expect(kept.last?.request.url == "https://a.test/99")
        #expect(none.archive.log.entries.isEmpty)
    }

    /// A text that the limit cuts within a character is still text.
    @Test(arguments: [(1, "a"), (2, "a"), (4, "a"), (5, "a🍵"), (6, "a🍵"), (7, "a🍵é")])
    func cutCharacters(bodyLimit: Int, text: String) throws {
        let client = client([.when(.post, "*", .json("{}"))])
        let recording = recording(of: client, bodyLimit: bodyLimit)
        _ = Recorder(client.post("/text", .text("a🍵é")), on: clock)
        _ = Recorder(client.post("/bytes", .body(.bytes([0xFF, 0xD8, 0xFF, 0, 0, 0, 0, 0]))), on: clock)
        try clock.run()
        let data = recording.archive.log.entries.map(\.request.postData)
        #expect(data.first??.text == text)
        #expect(data.first??.comment == (bodyLimit < 7 ? "the first \(bodyLimit) bytes" : nil))
        #expect(data.last??.text == nil)
        #expect(data.last??.comment == "not text, and so not recorded")
    }

    @Test func stoppingEndsTheRecording() throws {
        let client = client([.when(.get, "*", .json("[]"))])
        let recording = recording(of: client)
        _ = Recorder(client.get("/1"), on: clock)
        try clock.run()
        recording.stop()
        _ = Recorder(client.get("/2"), on: clock)
        try clock.run()
        #expect(recording.archive.log.entries.count == 1)
        #expect(!client.trafficHub.isObserved)
    }

    @Test func whoForgetsARecordingEndsIt() {
        let client = client([])
        _ = recording(of: client)
        #expect(!client.trafficHub.isObserved)
    }
}
