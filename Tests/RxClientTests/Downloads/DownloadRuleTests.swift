import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxTesting
import Testing

@testable import RxClient

/// The parsers and decisions of downloads.
@Suite struct DownloadRuleTests {
    // MARK: - Content-Range

    /// Content-Range.
    @Test(
        arguments: [
            ("bytes 0-0/1", 0...0, 1), ("bytes 10-19/100", 10...19, 100), ("BYTES 10-19/*", 10...19, nil),
            ("bytes */100", nil, 100), ("bytes */0", nil, 0),
            (
                "bytes 0-9223372036854775806/9223372036854775807", 0...9_223_372_036_854_775_806,
                9_223_372_036_854_775_807
            ),
        ] as [(String, ClosedRange<Int64>?, Int64?)])
    func contentRange(text: String, bytes: ClosedRange<Int64>?, total: Int64?) throws {
        let range = try #require(ContentRange(text))
        #expect(range.bytes == bytes)
        #expect(range.total == total)
    }

    /// Invalid Content-Range.
    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 1-2", "bytes */*", "bytes 2-1/9", "bytes 0-9/9", "bytes 0-/9",
        "bytes -9/9", "bytes 0-8/", "bytes 0-8/9/9", "bytes  0-8/9", "bytes=0-8/9", "items 0-8/9",
        "bytes 0-8/9 ", "bytes +0-8/9", "bytes 0-8/٩", "bytes 0-9223372036854775807/*",
        "bytes 0-99999999999999999999/*", "bytes 0-8/99999999999999999999", "bytes 0-1-2/9",
        "bytes 0-8/9, bytes 0-8/9",
    ])
    func noContentRange(text: String) { #expect(ContentRange(text) == nil) }

    /// A range of any size takes linear time. The marks have another order in the form that `String` compares.
    @Test(.timeLimit(.minutes(1))) func largeContentRange() {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        #expect(ContentRange("\(marks) 0-1/\(marks)") == nil)
    }

    /// Mutated ranges never trap, and parsed ones are consistent.
    @Test(arguments: 0..<8)
    func mutatedRange(seed: UInt64) {
        var random = SeededRandom(seed)
        for _ in 0..<2000 {
            let text =
                ["bytes 10-19/100", "bytes */100", "bytes 0-9223372036854775806/*"]
                .randomElement(using: &random) ?? ""
            let bytes = Array(text.utf8).mutated(by: &random, alphabet: Array("0123456789-/* bytes".utf8))
            guard let range = ContentRange(String(decoding: bytes, as: UTF8.self)) else { continue }
            #expect(range.bytes != nil || range.total != nil)
            if let bytes = range.bytes {
                #expect(bytes.lowerBound >= 0 && bytes.count > 0 && bytes.upperBound < range.total ?? .max)
            }
        }
    }

    // MARK: - Record

    private static func head(_ status: Int = 200, _ fields: HTTPFields) -> ResponseHead {
        ResponseHead(status: .init(code: status), headerFields: fields)
    }

    static let old = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let later = "Sun, 06 Nov 1994 08:49:38 GMT"

    static let validators: [(HTTPFields, String?)] = [
        ([.eTag: "\"a\""], "\"a\""), ([.eTag: "\"\""], "\"\""), ([:], nil), ([.eTag: "W/\"a\""], nil),
        ([.eTag: "a"], nil), ([.eTag: "\"a"], nil), ([.eTag: "\""], nil), ([.eTag: "\"a\", \"b\""], nil),
        ([.eTag: "\"ä\""], nil), ([.lastModified: old, .date: later], old),
        ([.lastModified: old, .date: old], nil), ([.lastModified: old], nil),
        ([.lastModified: later, .date: old], nil), ([.lastModified: "yesterday", .date: later], nil),
        ([.eTag: "W/\"a\"", .lastModified: old, .date: later], nil),
        ([.eTag: "\"a\"", .lastModified: old, .date: later], "\"a\""),
    ]

    /// Validators of a version.
    @Test(arguments: validators)
    func validator(fields: HTTPFields, validator: String?) throws {
        let record = DownloadRecord(of: "u", from: Self.head(200, fields), length: 7)
        #expect(record?.validator == validator)
        if let record { #expect(DownloadRecord(try record.encoded()) == record) }
    }

    /// Invalid records.
    @Test(arguments: [
        "", "{", "[]", "null", #"{"url":"u"}"#, #"{"etag":"\"a\""}"#, #"{"url":"u","etag":"W/\"a\""}"#,
        #"{"url":"u","etag":"a\r\nb"}"#, #"{"url":"u","etag":"\"a\r\n\""}"#,
        #"{"url":"u","etag":"\"a\"","length":-1}"#, #"{"url":"u","etag":"\"a\"","length":1e30}"#,
        #"{"url":"u","lastModified":"now"}"#,
        #"{"url":"u","etag":"\"a\"","lastModified":"Sun, 06 Nov 1994 08:49:37 GMT"}"#,
    ])
    func noRecord(text: String) { #expect(DownloadRecord(Array(text.utf8)) == nil) }

    /// Mutated records never trap, and parsed ones can be sent.
    @Test(arguments: 0..<8)
    func mutatedRecord(seed: UInt64) throws {
        var random = SeededRandom(seed)
        for _ in 0..<500 {
            let text = #"{"etag":"\"abc\"","length":12,"url":"http://a.test/f?x=1"}"#
            let bytes = Array(text.utf8).mutated(by: &random)
            guard let record = DownloadRecord(bytes) else { continue }
            let plan = DownloadPlan(url: record.url, record: record, size: 3)
            var request = Request(url: try #require(URL(string: "http://a.test/")))
            plan.prepare(&request)
            #expect(request.headerFields[.ifRange] == plan.start?.record.validator)
            #expect(record.validator?.utf8.contains(0x0A) == false)
        }
    }

    // MARK: - Decisions

    private static let record = DownloadRecord(
        Array(#"{"url":"u","etag":"\"a\"","length":100}"#.utf8))

    /// The start of a download.
    @Test(
        arguments: [
            ("u", 40, 40), ("u", 100, 100), ("u", 101, nil), ("u", 0, nil), ("v", 40, nil),
        ] as [(String, Int64, Int64?)])
    func start(url: String, size: Int64, offset: Int64?) throws {
        let plan = DownloadPlan(url: url, record: Self.record, size: size)
        #expect(plan.start?.offset == offset)
        var request = Request(url: try #require(URL(string: "http://a.test/")))
        request.headerFields[.range] = "bytes=7-"
        plan.prepare(&request)
        #expect(request.headerFields[.range] == offset.map { "bytes=\($0)-" })
        #expect(request.headerFields[.ifRange] == offset.map { _ in "\"a\"" })
        #expect(request.headerFields[.acceptEncoding] == "identity")
        #expect(DownloadPlan(url: url, record: nil, size: size).start == nil)
    }

    /// Decisions for a response to a partial download.
    @Test(
        arguments: [
            (206, [.contentRange: "bytes 40-99/100"], .append(at: 40, end: 100, total: 100)),
            (
                206, [.contentRange: "bytes 40-99/100", .eTag: "\"a\"", .contentLength: "60"],
                .append(at: 40, end: 100, total: 100)
            ),
            (206, [.contentRange: "bytes 40-49/100"], .append(at: 40, end: 50, total: 100)),
            (206, [:], .startOver), (206, [.contentRange: "bytes 41-99/100"], .startOver),
            (206, [.contentRange: "bytes 39-99/100"], .startOver),
            (206, [.contentRange: "bytes 0-99/100"], .startOver),
            (206, [.contentRange: "bytes 40-99/*"], .startOver),
            (206, [.contentRange: "bytes 40-98/99"], .startOver),
            (206, [.contentRange: "bytes 40-100/101"], .startOver),
            (206, [.contentRange: "bytes */100"], .startOver),
            (206, [.contentRange: "bytes 40-99/100", .eTag: "\"b\""], .startOver),
            (206, [.contentRange: "bytes 40-99/100", .eTag: "W/\"a\""], .startOver),
            (206, [.contentRange: "bytes 40-99/100", .contentLength: "61"], .startOver),
            (206, [.contentRange: "bytes 40-99/100", .contentEncoding: "gzip"], .startOver),
            (206, [.contentType: "multipart/byteranges; boundary=x"], .startOver),
            (200, [.contentLength: "70"], .begin(total: 70)), (200, [:], .begin(total: nil)),
            (200, [.contentLength: "70", .contentEncoding: "gzip"], .begin(total: nil)),
            (416, [:], .startOver), (416, [.contentRange: "bytes */100"], .startOver),
            (416, [.contentRange: "bytes */40"], .startOver),
            (416, [.contentRange: "bytes 0-39/40"], .startOver),
        ] as [(Int, HTTPFields, DownloadPlan.Decision)])
    func decision(status: Int, fields: HTTPFields, decision: DownloadPlan.Decision) {
        let plan = DownloadPlan(url: "u", record: Self.record, size: 40)
        #expect(plan.decide(Self.head(status, fields)) == decision)
    }

    /// 416 for a complete file.
    @Test(
        arguments: [
            ("bytes */100", "\"a\"", .complete(total: 100)), ("bytes */100", nil, .complete(total: 100)),
            ("bytes */100", "\"b\"", .startOver), ("bytes */99", nil, .startOver),
            ("bytes */101", nil, .startOver),
        ] as [(String, String?, DownloadPlan.Decision)])
    func nothingMissing(range: String, tag: String?, decision: DownloadPlan.Decision) {
        var fields: HTTPFields = [.contentRange: range]
        fields[.eTag] = tag
        let plan = DownloadPlan(url: "u", record: Self.record, size: 100)
        #expect(plan.decide(Self.head(416, fields)) == decision)
    }

    /// A part that was not requested.
    @Test(arguments: [206, 416])
    func unasked(status: Int) {
        let head = Self.head(status, [.contentRange: "bytes 0-9/10"])
        #expect(DownloadPlan.fromTheStart.decide(head) == .refuse)
    }
}
