import Foundation
import HTTPTypes
import RxHTTP
import RxWebSocket
import Testing

@testable import RxSimulation

@Suite struct CassetteFileTests {
    /// A cassette with every member.
    static var full: Cassette {
        let head = ResponseHead(
            status: .ok, headerFields: [.contentType: "application/json", .setCookie: "a=b"],
            httpVersion: .http11)
        return Cassette([
            Cassette.Exchange(
                startedAt: Date(timeIntervalSince1970: 784_111_777.25), method: .post,
                url: "https://shop.test/a?b=c", headerFields: [.accept: "*/*", .contentType: "text/plain"],
                body: Array("é\"\\\u{1}".utf8),
                events: [
                    Cassette.Event(.zero, .uploaded(bytes: 4, of: 4)),
                    Cassette.Event(.milliseconds(1), .interim(ResponseHead(status: .earlyHints))),
                    Cassette.Event(.milliseconds(2), .head(head)),
                    Cassette.Event(.microseconds(2500), .chunk([91])),
                    Cassette.Event(.seconds(1), .chunk([93])),
                    Cassette.Event(.seconds(1), .trailers([.contentLocation: "/x"])),
                    Cassette.Event(.seconds(2), .finished),
                ]),
            Cassette.Exchange(
                url: "https://shop.test/b",
                events: [
                    Cassette.Event(
                        .milliseconds(3),
                        .failed(.init(.tls, "expired", phase: .connect, tlsFailure: .expired, curlCode: 60)))
                ]),
            Cassette.Exchange(
                url: "https://shop.test/ws",
                events: [
                    Cassette.Event(.zero, .head(ResponseHead(status: .switchingProtocols))),
                    Cassette.Event(.zero, .message(.text("hi"), .client)),
                    Cassette.Event(.milliseconds(1), .message(.binary([0, 255]), .server)),
                    Cassette.Event(.milliseconds(1), .close(.goingAway, reason: "bye", .server)),
                    Cassette.Event(.milliseconds(1), .cancelled),
                ], isWebSocket: true),
        ])
    }

    /// A cassette is an archive in the format 1.2, and reads as it was written.
    @Test func roundTrip() throws {
        let bytes = Self.full.encoded
        #expect(try Cassette(bytes: bytes).encoded == bytes)
        let document = try JSONDecoder().decode(Archive.self, from: Data(bytes))
        #expect(document.log.version == "1.2" && document.log.entries.count == 3)
        #expect(document.log.entries[0].response.content.text == "[]")
        #expect(document.log.entries[0].time == 2000)
    }

    /// A cassette that is read and written again has the same bytes, whenever it was recorded.
    @Test func rewriting() throws {
        var recorded = Self.full
        for index in recorded.exchanges.indices {
            recorded.exchanges[index].startedAt = Date(timeIntervalSince1970: 1_784_111_777.123_456_7)
            for place in recorded.exchanges[index].events.indices {
                recorded.exchanges[index].events[place].time += Duration(
                    secondsComponent: 0, attosecondsComponent: 123_456_789_012_345)
            }
        }
        let head = ResponseHead(status: .ok, headerFields: [.contentType: "text/event-stream"])
        recorded.exchanges.append(
            Cassette.Exchange(
                startedAt: Date(timeIntervalSince1970: 1_784_111_777.999_9), url: "https://shop.test/events",
                events: [
                    Cassette.Event(.milliseconds(1), .head(head)),
                    Cassette.Event(.nanoseconds(1_234_567), .chunk(Array("data: a\n\n".utf8))),
                    Cassette.Event(.seconds(1), .finished),
                ]))
        let bytes = recorded.encoded
        #expect(try Cassette(bytes: bytes).encoded == bytes)
    }

    /// The members that the format requires.
    private struct Archive: Decodable {
        struct Pair: Decodable { let name, value: String }
        struct Content: Decodable {
            let size: Int
            let mimeType: String
            let text: String?
        }
        struct Request: Decodable {
            let method, url, httpVersion: String
            let cookies: [Pair]
            let headers: [Pair]
            let queryString: [Pair]
            let headersSize, bodySize: Int
        }
        struct Response: Decodable {
            let status: Int
            let statusText, httpVersion: String
            let cookies: [Pair]
            let headers: [Pair]
            let content: Content
            let redirectURL: String
            let headersSize, bodySize: Int
        }
        struct Timings: Decodable { let send, wait, receive: Double }
        struct Cache: Decodable {}
        struct Creator: Decodable { let name, version: String }
        struct Entry: Decodable {
            let startedDateTime: String
            let time: Double
            let request: Request
            let response: Response
            let cache: Cache
            let timings: Timings
        }
        struct Log: Decodable {
            let version: String
            let creator: Creator
            let entries: [Entry]
        }
        let log: Log
    }

    /// A file that cannot be used names the place.
    @Test(arguments: [
        ("", "x.har:1:1: here the text ends too early or is not JSON"),
        ("{\"log\": {\n  \"version\"", "x.har:2:12: here the text ends too early or is not JSON"),
        ("[]", "x.har:1:1: the document is not an object"), ("{}", "x.har:1:1: log is missing"),
        (#"{"log": {"version": "2.0"}}"#, "x.har:1:21: log.version is 2.0, which cannot be read"),
        (
            #"{"log": {"version": "1.2", "_cassette": 2}}"#,
            "x.har:1:41: log._cassette is 2.0, which cannot be read"
        ),
        (#"{"log": {"version": "1.2", "entries": 1}}"#, "x.har:1:39: log.entries is not an array"),
        (entry(#""url": "https://a.test""#), "x.har:2:13: log.entries[0].request.method is missing"),
        (
            entry(#""method": "G T", "url": "https://a.test""#),
            "log.entries[0].request.method is not a method of HTTP"
        ),
        (entry(#""method": "GET", "url": "/a""#), "log.entries[0].request.url is not an absolute URL"),
        (
            entry(
                #""method": "GET", "url": "https://a.test", "headers": [{"name": "a b", "value": ""}]"#),
            "log.entries[0].request.headers[0].name is not the name of a header field"
        ),
        (response(#""status": 1000"#), "log.entries[0].response.status: 1000 is not between 100 and 999"),
        (response(#""status": 1e300"#), "log.entries[0].response.status is not a whole number"),
        (
            response(#""status": 200, "content": {"text": "!", "encoding": "base64"}"#),
            "log.entries[0].response.content.text is not base64"
        ),
        (
            response(#""status": 200, "content": {"text": "ab"}"#, #""_headAt": 1, "_chunks": [[1, 3]]"#),
            "log.entries[0]._chunks[0][1]: 3 is not between 0 and 2"
        ),
        (
            response(#""status": 200, "content": {"text": "ab"}"#, #""_headAt": 1, "_chunks": [[1, 1]]"#),
            "log.entries[0]._chunks: the sizes total 1, but the text has 2 bytes; remove _chunks to have it in one chunk"
        ),
        (
            response(#""status": 200"#, #""_headAt": -1"#),
            "log.entries[0]._headAt: -1.0 is not a time in milliseconds"
        ),
        (
            response(#""status": 200"#, #""_headAt": 1e99"#),
            "log.entries[0]._headAt: 1e+99 is not a time in milliseconds"
        ),
        (
            response(#""status": 200"#, #""_end": {"at": 1, "outcome": "well"}"#),
            "log.entries[0]._end.outcome is not finished, failed or cancelled"
        ),
        (
            response(#""status": 200"#, #""startedDateTime": "today""#),
            "log.entries[0].startedDateTime is not a date in ISO 8601"
        ),
    ])
    func placesOfProblems(text: String, problem: String) throws {
        let error = #expect(throws: FixtureError.self) {
            try Cassette(bytes: Array(text.utf8), file: "x.har")
        }
        let description = try #require(error).description
        #expect(description.hasPrefix("x.har:") && description.hasSuffix(problem), "\(description)")
    }

    private static func entry(_ request: String) -> String {
        "{\"log\": {\"version\": \"1.2\", \"entries\": [\n{\"request\": {\(request)}, \"response\": {}}]}}"
    }

    private static func response(_ response: String, _ members: String = #""_headAt": 1"#) -> String {
        let end = members.contains("_end") ? "" : #", "_end": {"at": 1, "outcome": "finished"}"#
        return """
            {"log": {"version": "1.2", "entries": [
            {"request": {"method": "GET", "url": "https://a.test"}, "response": {\(response)}, \(members)\(end)}]}}
            """
    }

    /// A file that is cut off anywhere is refused.
    @Test func cutOff() throws {
        let bytes = Self.full.encoded
        for count in stride(from: 0, to: bytes.count - 2, by: 7) {
            let error = #expect(throws: FixtureError.self) {
                try Cassette(bytes: Array(bytes.prefix(count)))
            }
            #expect(error?.problem == .notJSON)
            #expect(error?.line != nil)
        }
    }

    /// Files that are missing, too large or no files have errors with their path.
    @Test func files() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cassettes-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "deep/a.har").path
        let missing = #expect(throws: FixtureError.self) { try Cassette(contentsOf: path) }
        #expect(missing?.file == path)

        try Self.full.write(to: path)
        #expect(try Cassette(contentsOf: path).encoded == Self.full.encoded)
        let large = #expect(throws: FixtureError.self) { try Cassette(contentsOf: path, limit: 100) }
        #expect(large?.problem == .tooLarge(bytes: Self.full.encoded.count, limit: 100))

        let taken = folder.appending(path: "deep/a.har/b.har").path
        #expect(throws: FixtureError.self) { try Self.full.write(to: taken) }
        #expect(try Cassette(contentsOf: path).encoded == Self.full.encoded)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/deep") == ["a.har"])
    }

    /// A gigabyte is refused without being read.
    @Test func gigabyte() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "cassette-\(UUID()).har")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        try FileHandle(forWritingTo: file).truncate(atOffset: 1 << 30)
        let error = #expect(throws: FixtureError.self) { try Cassette(contentsOf: file.path) }
        #expect(error?.problem == .tooLarge(bytes: 1 << 30, limit: Cassette.sizeLimit))
    }

    /// A time before the request is written as that of the request.
    @Test func negativeTimes() throws {
        let cassette = Cassette([
            Cassette.Exchange(
                url: "https://a.test/",
                events: [
                    Cassette.Event(.milliseconds(1), .head(ResponseHead(status: .ok))),
                    Cassette.Event(.nanoseconds(-1), .finished),
                ])
        ])
        let times = try Cassette(bytes: cassette.encoded).exchanges[0].events.map(\.time)
        #expect(times == [.milliseconds(1), .milliseconds(1)])
    }

    /// A file that no reader can hold is too large, whatever the limit.
    @Test func sizeOfTheReader() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "cassette-\(UUID()).har")
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
        try FileHandle(forWritingTo: file).truncate(atOffset: 300 << 20)
        let error = #expect(throws: FixtureError.self) { try Cassette(contentsOf: file.path, limit: 1 << 30) }
        guard case .tooLarge(bytes: 300 << 20, limit: _) = error?.problem else {
            Issue.record("\(error.debugDescription)")
            return
        }
    }

    /// A cassette that is too large to be read is not written.
    @Test func largestFile() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "cassette-\(UUID()).har")
        defer { try? FileManager.default.removeItem(at: file) }
        let error = #expect(throws: FixtureError.self) { try Self.full.write(to: file.path, limit: 100) }
        guard case .tooLarge = error?.problem else {
            Issue.record("\(error.debugDescription)")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
