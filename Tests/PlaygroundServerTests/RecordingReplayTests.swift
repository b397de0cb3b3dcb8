import FoundationEssentials
import PlaygroundServer
import TestServers
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RecordingReplayTests {
    /// A recording with these lines, in a file that is removed when the test ends.
    private func withRecording(_ lines: [String], _ body: (String) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await body(folder.file("recording.jsonl", Array(lines.joined(separator: "\n").utf8)))
    }

    private func line(
        _ scenario: String, _ order: Int, _ method: String, _ url: String, _ status: Int = 200,
        headers: String = "[]", body: String
    ) -> String {
        #"{"scenario":"\#(scenario)","order":\#(order),"method":"\#(method)","url":"\#(url)","#
            + #""status":\#(status),"headers":\#(headers),"body":"\#(body)"}"#
    }

    @Test func givesSuccessiveAnswersInTheirOrder() async throws {
        let lines = [
            line("one", 2, "GET", "/a?x=1&y=2", body: "third"),
            line("one", 0, "GET", "/a?x=1&y=2", body: "first"),
            "", line("two", 0, "GET", "/a?x=1&y=2", 202, body: "other"),
            line("one", 1, "PUT", "/a?x=1&y=2", body: "put"),
        ]
        try await withRecording(lines) { path in
            let replay = try await RecordingReplay.start(file: path)
            #expect(replay.count == 4)
            func body(_ method: String, _ target: String, _ scenario: String? = nil) async throws -> String {
                let fields = scenario.map { ["X-Scenario": $0] } ?? [:]
                return try await Answer(method, target, at: replay.baseURL, fields: fields).body
            }
            #expect(try await body("GET", "/a?x=1&y=2") == "first")
            #expect(try await body("GET", "/a?y=2&x=1") == "third")
            #expect(try await body("GET", "/a?x=1&y=2") == "other")
            #expect(try await body("GET", "/a?x=1&y=2") == "other")
            #expect(try await body("PUT", "/a?x=1&y=2") == "put")
            #expect(try await body("GET", "/a?x=1&y=2", "one") == "first")
            #expect(try await body("GET", "/a?x=1&y=2", "two") == "other")
            #expect(try await Answer("GET", "/a", at: replay.baseURL).status == 404)
            #expect(try await body("GET", "/a?x=1&y=2", "three").contains("scenario three"))
            await replay.stop()
        }
    }

    @Test func leadsLinksBackAndKeepsTheRest() async throws {
        let headers =
            #"[["Link","<https://api.github.com/b?p=2>; rel=\"next\""],["ETag","\"1\""],"#
            + #"["Content-Length","999"],["Transfer-Encoding","chunked"],["Connection","close"]]"#
        let lines = [line("s", 0, "POST", "/a", 201, headers: headers, body: "https://uploads.github.com/c")]
        try await withRecording(lines) { path in
            let replay = try await RecordingReplay.start(file: path)
            let answer = try await Answer("POST", "/a", at: replay.baseURL)
            #expect(answer.status == 201)
            #expect(answer.body == "\(replay.baseURL)/c")
            #expect(answer.head.contains("\r\nLink: <\(replay.baseURL)/b?p=2>; rel=\"next\""))
            #expect(answer.head.contains("\r\nETag: \"1\""))
            #expect(answer.head.contains("\r\nContent-Length: \(answer.body.utf8.count)"))
            #expect(!answer.head.contains("chunked"))
            await replay.stop()
        }
    }

    @Test func bytesRecordedAsDigitsAreBytesAgain() async throws {
        let lines = [line("s", 0, "GET", "/a", headers: #"[["content-length","3"]]"#, body: "616263")]
        try await withRecording(lines) { path in
            let replay = try await RecordingReplay.start(file: path)
            #expect(try await Answer("GET", "/a", at: replay.baseURL).body == "abc")
            await replay.stop()
        }
    }

    @Test(arguments: [
        "not JSON", #"{"scenario":"s"}"#,
        #"{"scenario":"s","order":0,"method":"GET","url":"/","status":9,"headers":[],"body":""}"#,
        #"{"scenario":"s","order":0,"method":"GET","url":"/","status":200,"headers":[["a"]],"body":""}"#,
    ])
    func aBadLineIsNamed(bad: String) async throws {
        let lines = [line("s", 0, "GET", "/a", body: ""), bad]
        try await withRecording(lines) { path in
            let error = await #expect(throws: RecordingReplay.InvalidRecording.self) {
                try await RecordingReplay.start(file: path)
            }
            #expect(error?.line == 2)
            #expect(error?.path == path)
        }
    }

    @Test(arguments: ["", "\n\n"])
    func aRecordingOfNothingIsRefused(contents: String) async throws {
        try await withRecording([contents]) { path in
            await #expect(throws: RecordingReplay.InvalidRecording.self) {
                try await RecordingReplay.start(file: path)
            }
        }
        await #expect(throws: RecordingReplay.InvalidRecording.self) {
            try await RecordingReplay.start(file: "/no/such/file")
        }
    }
}
