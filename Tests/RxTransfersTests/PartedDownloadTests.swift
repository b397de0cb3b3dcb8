import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@testable import RxTransfers

/// Downloads in parts, in virtual time, over a scripted server and files in memory.
@Suite struct PartedDownloadTests {
    static let content = (0..<200).map { UInt8($0) }

    /// An object on a scripted server, with ranges by RFC 9110.
    final class ObjectServer: Sendable {
        struct State: Sendable {
            var content = PartedDownloadTests.content
            var tag: String? = "\"v1\""
            var offers: String? = "bytes"
            var fields: HTTPFields = [:]
            /// The numbers of requests, from 0, that break, and the bytes before.
            var breaks: [Int: Int] = [:]
            /// Responds to requests for parts with this status.
            var refusal: Int?
            /// Responds to all requests with this status.
            var outage: Int?
            var ignoresRanges = false
            /// After so many requests another object is there.
            var changesAfter = Int.max
            var tagOfParts: String?
            var pace = Duration.milliseconds(1)
            var count = 0
            var slice = Int.max
        }

        let state = Mutex(State())

        func answer(_ request: Request) -> ScriptedTransport.Reply {
            state.withLock { state in
                let number = state.count
                state.count += 1
                if let outage = state.outage { return .status(.init(code: outage)) }
                if number >= state.changesAfter, state.tag == "\"v1\"" {
                    state.tag = "\"v2\""
                    state.content = state.content.map { 255 - $0 }
                }
                var fields = state.fields
                fields[.eTag] = state.tag
                fields[.acceptRanges] = state.offers
                let range = request.headerFields[.range].flatMap(Self.range)
                let isSame =
                    request.headerFields[.ifRange] == nil || request.headerFields[.ifRange] == state.tag
                let cut = state.breaks.removeValue(forKey: number)
                guard let range, isSame, !state.ignoresRanges else {
                    fields[.contentLength] = "\(state.content.count)"
                    return Self.body(state.content[...], .ok, fields, cut, state.pace)
                }
                if let refusal = state.refusal { return .status(.init(code: refusal)) }
                if let tag = state.tagOfParts { fields[.eTag] = tag }
                let end = min(
                    range.upperBound ?? state.content.count - 1,
                    range.lowerBound + min(state.slice, 1 << 30) - 1)
                fields[.contentRange] = "bytes \(range.lowerBound)-\(end)/\(state.content.count)"
                fields[.contentLength] = "\(end - range.lowerBound + 1)"
                return Self.body(
                    state.content[range.lowerBound...end], .partialContent, fields, cut, state.pace)
            }
        }

        private static func body(
            _ bytes: ArraySlice<UInt8>, _ status: HTTPResponse.Status, _ fields: HTTPFields, _ cut: Int?,
            _ pace: Duration
        ) -> ScriptedTransport.Reply {
            var steps: [ScriptedTransport.Step] = [
                .head(ResponseHead(status: status, headerFields: fields))
            ]
            var rest = bytes.prefix(cut ?? .max)
            while !rest.isEmpty {
                steps += [.wait(pace), .chunk(Array(rest.prefix(7)))]
                rest = rest.dropFirst(7)
            }
            return .init(steps + [cut == nil ? .finish : .fail(NetworkError(.partialBody, "cut"))])
        }

        private static func range(_ text: String) -> (lowerBound: Int, upperBound: Int?)? {
            let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
            guard text.hasPrefix("bytes="), let first = Int(ends[0]) else { return nil }
            return (first, ends.count > 1 ? Int(ends[1]) : nil)
        }
    }

    let clock = VirtualScheduler()
    let server = ObjectServer()
    let files: MemoryFileSystem
    let transport: ScriptedTransport

    init() {
        files = MemoryFileSystem(on: clock)
        let server = server
        transport = ScriptedTransport(on: clock, files: files) { server.answer($0) }
    }

    func start(
        _ parts: PartedDownload.Parts = .count(4), digest: TransferDigest? = nil, retries: Int = 5,
        requiresDigest: Bool = false, backoff: Backoff = .constant(.seconds(1))
    ) -> Recorder<PartedDownload.Event, NetworkError> {
        var options = PartedDownload.Options()
        options.digest = digest
        options.retries = retries
        options.requiresDigest = requiresDigest
        options.backoff = backoff
        let client = Client(baseURL: "http://shop.test", transport: transport)
        return Recorder(client.download(.get("/f"), to: "/d/f", parts: parts, options: options), on: clock)
    }

    func ranges() -> [String?] { transport.requests.map { $0.headerFields[.range] } }

    func expectDone(
        _ recorder: Recorder<PartedDownload.Event, NetworkError>, _ expected: [UInt8] = content
    ) {
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(files["/d/f"] == expected)
        #expect(files.paths == ["/d/f"], "\(files.paths)")
        #expect(files.lockedPaths.isEmpty)
    }

    /// A field of any size takes linear time. The marks have another order in the form that `String` compares.
    @Test(.timeLimit(.minutes(1))) func largeFields() {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        for (value, offers) in [(marks, false), (marks + ", bytes", true), ("BYTES", true)] {
            let head = ResponseHead(status: .ok, headerFields: [.acceptRanges: value])
            #expect(PartedPlan.offersRanges(head) == offers)
        }
    }

    /// The first response brings the first part, and each other part has its own request with the validator.
    @Test func parts() throws {
        let recorder = start()
        try clock.run()
        expectDone(recorder)
        #expect(ranges() == [nil, "bytes=50-99", "bytes=100-149", "bytes=150-199"])
        #expect(transport.requests.dropFirst().allSatisfy { $0.headerFields[.ifRange] == "\"v1\"" })
        #expect(transport.exchanges[0].outcome == .cancelled)
        // The parts arrive side by side.
        #expect(clock.now < .milliseconds(20))
    }

    /// Without a strong validator, or without an offer of ranges, there is one part.
    @Test(arguments: [nil, "W/\"v1\"", "\"v1\""])
    func onePart(tag: String?) throws {
        server.state.withLock {
            $0.tag = tag
            if tag == "\"v1\"" { $0.offers = "none" }
        }
        let recorder = start()
        try clock.run()
        expectDone(recorder)
        #expect(ranges() == [nil])
    }

    /// A small file is not split automatically.
    @Test func automatic() throws {
        let recorder = start(.automatic)
        try clock.run()
        expectDone(recorder)
        #expect(ranges() == [nil])
    }

    /// An interrupted part goes on from where it is, with the validator.
    @Test func interruptions() throws {
        server.state.withLock { $0.breaks = [0: 20, 2: 14, 4: 0] }
        let recorder = start()
        try clock.run()
        expectDone(recorder)
        #expect(ranges().contains("bytes=20-49"))
        #expect(ranges().contains("bytes=114-149"))
        #expect(transport.requests.dropFirst().allSatisfy { $0.headerFields[.ifRange] == "\"v1\"" })
    }

    /// A server may send less than a part.
    @Test func slices() throws {
        server.state.withLock { $0.slice = 20 }
        let recorder = start()
        try clock.run()
        expectDone(recorder)
        #expect(ranges().contains("bytes=70-99"))
    }

    /// A server that refuses parts gets one request for the rest.
    @Test(arguments: [403, 416, 400])
    func refusal(status: Int) throws {
        server.state.withLock { $0.refusal = status }
        let recorder = start()
        try clock.advance(by: .milliseconds(3))
        server.state.withLock { $0.refusal = nil }
        try clock.run()
        expectDone(recorder)
        // A range, or else the whole as the last resort.
        #expect(ranges().last.map { $0.map { $0.hasSuffix("-199") } ?? true } == true)
    }

    /// A refusal of everything ends the download, and what all parts have stays for another run.
    @Test(arguments: [401, 403, 404, 410])
    func refusalOfEverything(status: Int) throws {
        server.state.withLock { $0.breaks = [2: 14] }
        let first = start()
        try clock.advance(by: .milliseconds(500))
        server.state.withLock { $0.outage = status }
        try clock.run()
        #expect(first.failure?.head?.status.code == status)
        // The content, and a mark of each part.
        #expect(files["/d/f.part"]?.count == 232)
        server.state.withLock { $0.outage = nil }
        let second = start()
        try clock.run()
        expectDone(second)
        guard case .started(from: 164, parts: _) = second.values.first else {
            Issue.record("\(String(describing: second.values.first))")
            return
        }
    }

    /// A server that ignores ranges sends the whole.
    @Test func ignoredRanges() throws {
        server.state.withLock { $0.ignoresRanges = true }
        let recorder = start()
        try clock.run()
        expectDone(recorder)
    }

    /// An object that changes starts over once, and never mixes.
    @Test(arguments: [1, 2, 3])
    func change(after count: Int) throws {
        server.state.withLock { $0.changesAfter = count }
        let recorder = start()
        try clock.run()
        expectDone(recorder, Self.content.map { 255 - $0 })
        #expect(recorder.values.contains { if case .startedOver = $0 { true } else { false } })
    }

    /// A part with another validator never becomes part of the file.
    @Test func anotherTag() throws {
        server.state.withLock { $0.tagOfParts = "\"v3\"" }
        let recorder = start()
        try clock.run()
        #expect(recorder.failure?.code == .contentChanged)
        #expect(files["/d/f"] == nil)
    }

    /// The digest of the server, or of the caller, proves the file; with another one no file appears.
    @Test(arguments: [true, false], [true, false])
    func digests(isRight: Bool, isServers: Bool) throws {
        let digest = TransferDigest(of: isRight ? Self.content : [1], .sha256)
        if isServers { server.state.withLock { $0.fields[.reprDigest] = digest.fieldValue } }
        let recorder = start(digest: isServers ? nil : digest)
        try clock.run()
        if isRight {
            expectDone(recorder)
            guard case .finished(let file) = recorder.values.last else {
                Issue.record("no file")
                return
            }
            #expect(file.digest == digest)
        } else {
            #expect(recorder.failure?.code == .digestMismatch)
            #expect(files["/d/f"] == nil)
            #expect(!files.paths.contains("/d/f.part.json"))
        }
    }

    /// A file without a digest can be refused.
    @Test func requiredDigest() throws {
        let recorder = start(requiresDigest: true)
        try clock.run()
        #expect(recorder.failure?.code == .digestMismatch)
        #expect(files["/d/f"] == nil)
    }

    /// Another run goes on with what each part has.
    @Test(arguments: 1...14)
    func anotherRun(milliseconds: Int) throws {
        let first = start()
        try clock.advance(by: .milliseconds(milliseconds))
        first.cancel()
        try clock.run()
        let before = transport.requests.count
        let second = start()
        try clock.run()
        #expect(second.isFinished)
        expectDone(second)
        if milliseconds == 3 {
            #expect(transport.requests.dropFirst(before).allSatisfy { $0.headerFields[.ifRange] == "\"v1\"" })
        }
    }

    /// A process may be killed between two steps: a complete draft with its marks is complete, and one for several parts that
    /// is shorter than the file has the beginning of it.
    @Test(arguments: [true, false])
    func killedBetweenSteps(isComplete: Bool) throws {
        let head = ResponseHead(status: .ok, headerFields: [.eTag: "\"v1\"", .contentLength: "200"])
        var plan = PartedPlan(of: "http://shop.test/f", from: head)
        plan.divide(for: 4, minPartSize: 1)
        let marks = plan.marks
        if isComplete { plan.join() }
        files["/d/f.part.json"] = try plan.encoded()
        files["/d/f.part"] = isComplete ? Self.content + marks : Array(Self.content.prefix(50))
        let recorder = start()
        try clock.run()
        expectDone(recorder)
        #expect(ranges().isEmpty == isComplete)
        #expect(ranges().allSatisfy { $0 != nil && $0 != "bytes=0-199" })
    }

    /// A longer draft of one part is no complete one: it may have parts with holes between.
    @Test func longerDraft() throws {
        let head = ResponseHead(status: .ok, headerFields: [.eTag: "\"v1\"", .contentLength: "200"])
        files["/d/f.part.json"] = try PartedPlan(of: "http://shop.test/f", from: head).encoded()
        files["/d/f.part"] = [UInt8](repeating: 0, count: 232)
        let recorder = start()
        try clock.run()
        expectDone(recorder)
    }

    /// A record of another file, or a broken one, is no reason to fail.
    @Test(arguments: [
        #"{"url":"http://other.test/f","etag":"\"v1\"","length":200,"starts":[50]}"#, "{", "[1",
    ])
    func uselessRecords(record: String) throws {
        files["/d/f.part"] = [9, 9, 9]
        files["/d/f.part.json"] = Array(record.utf8)
        let recorder = start()
        try clock.run()
        expectDone(recorder)
    }

    /// Fewer parts than one count as one, in another run, too.
    @Test func noParts() throws {
        let first = start()
        try clock.advance(by: .milliseconds(3))
        first.cancel()
        try clock.run()
        let second = start(.count(0))
        try clock.run()
        expectDone(second)
    }

    /// A download in one part continues what one in several has begun, and the reverse.
    @Test func otherKinds() throws {
        let first = start()
        try clock.advance(by: .milliseconds(3))
        first.cancel()
        try clock.run()
        let client = Client(baseURL: "http://shop.test", transport: transport)
        let plain = Recorder(client.download(.get("/f"), to: "/d/f"), on: clock)
        try clock.run()
        #expect(plain.isFinished)
        #expect(files["/d/f"] == Self.content)
        #expect(transport.requests.last?.headerFields[.range] != nil)
    }

    /// Failures without progress end it; the parts stay.
    @Test func failures() throws {
        server.state.withLock { $0.breaks = Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, 0) }) }
        let recorder = start(retries: 2)
        try clock.run()
        #expect(recorder.failure?.code == .partialBody)
        #expect(files["/d/f"] == nil)
    }

    /// The rule for the waits knows the last one, as that of decorrelated jitter must.
    @Test func waitsAfterTheLast() throws {
        server.state.withLock { $0.breaks = Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, 0) }) }
        let recorder = start(.count(1), retries: 3, backoff: .afterTheLast)
        try clock.run()
        let waits = recorder.values.compactMap { if case .paused(_, let wait) = $0 { wait } else { nil } }
        #expect(waits == [.seconds(1), .seconds(3), .seconds(7)])
    }

    /// A connection that breaks for several parts at once counts once for each of them.
    @Test func failureOfSeveralParts() throws {
        server.state.withLock { $0.breaks = [1: 0, 2: 0, 3: 0] }
        let recorder = start(retries: 1)
        try clock.run()
        expectDone(recorder)
    }

    /// A file that can only be requested as a whole does not start over for ever: bytes that were there before are no
    /// progress.
    @Test func failuresWithoutValidator() throws {
        server.state.withLock {
            $0.tag = nil
            $0.breaks = Dictionary(uniqueKeysWithValues: (0..<40).map { ($0, 20) })
        }
        let recorder = start(retries: 2)
        try clock.run()
        #expect(recorder.failure?.code == .partialBody)
        #expect(ranges().count == 3)
    }

    /// Two downloads to one path: the second fails.
    @Test func twoAtOnce() throws {
        let first = start()
        try clock.advance(by: .milliseconds(2))
        let second = start()
        try clock.advance(by: .milliseconds(1))
        #expect(second.failure?.code == .file)
        try clock.run()
        expectDone(first)
    }
}

/// The number of requests of a download that begins with one.
@Suite struct PartedRampTests {
    private static let megabyte: Int64 = 1 << 20

    /// The steps of a download over connections that carry `each` bytes a second, and `all` together, with `left` bytes left.
    private static func steps(each: Double, all: Double, left: Int64) -> [PartedRamp.Step] {
        var ramp = PartedRamp(maxConcurrency: 16)
        ramp.begin(at: .zero)
        var (count, bytes, now) = (1, 0.0, Duration.zero)
        var steps: [PartedRamp.Step] = []
        while steps.last != .enough {
            bytes += min(Double(count) * each, all) * (PartedRamp.interval / .seconds(1))
            now += PartedRamp.interval
            steps.append(ramp.take(Int64(bytes), left: left - Int64(bytes), at: now))
            if case .grow(let more) = steps.last { count = more }
        }
        return steps.filter { $0 != .wait }
    }

    /// Each connection has its own limit: all that are allowed help.
    @Test func manyHelp() {
        let steps = Self.steps(each: 4e6, all: 1e9, left: 1024 * Self.megabyte)
        #expect(steps == [.grow(4), .grow(16), .enough])
    }

    /// All connections share one line: more do not help.
    @Test func oneIsEnough() {
        #expect(Self.steps(each: 4e6, all: 4e6, left: 1024 * Self.megabyte) == [.grow(4), .enough])
    }

    /// A download that is nearly over gets none.
    @Test func nearlyOver() {
        #expect(Self.steps(each: 40e6, all: 1e9, left: 30 * Self.megabyte) == [.enough])
    }
}

/// Parts, slots and marks.
@Suite struct PartedPlanTests {
    private static let size: Int64 = 64 << 20

    private func plan(length: Int64 = size, for count: Int = 4) -> PartedPlan {
        let head = ResponseHead(
            status: .ok, headerFields: [.eTag: "\"v1\"", .contentLength: "\(length)"])
        var plan = PartedPlan(of: "http://shop.test/f", from: head)
        plan.divide(for: count, minPartSize: 1)
        return plan
    }

    /// The parts are equal, and together the whole.
    @Test(arguments: [1, 2, 3, 5, 16, 64])
    func spreading(count: Int) {
        var plan = plan(for: count)
        plan.spread(over: count)
        #expect(plan.parts.count == count)
        #expect(plan.parts.first?.start == 0)
        #expect(plan.parts.last?.end == Self.size)
        #expect(zip(plan.parts, plan.parts.dropFirst()).allSatisfy { $0.end == $1.start })
        let lengths = plan.parts.map { ($0.end ?? 0) - $0.start }
        #expect((lengths.max() ?? 0) - (lengths.min() ?? 0) <= 1 << 20)
    }

    /// The part with most left gives away its second half, but nothing that has arrived.
    @Test func splitting() throws {
        var plan = plan()
        plan.spread(over: 2)
        #expect(plan.receive(20 << 20, of: plan.parts[0].slot) == 20 << 20)
        let given = plan.split(minPartSize: 1 << 20)
        let slot = try #require(given)
        #expect(plan.parts.map(\.start) == [0, Self.size / 2, Self.size * 3 / 4])
        #expect(plan.part(at: slot)?.start == Self.size * 3 / 4)
        // Its old end is not reached any more.
        #expect(plan.receive(32 << 20, of: plan.parts[1].slot) == 16 << 20)
        #expect(plan.split(minPartSize: 16 << 20) == nil)
    }

    /// A record with a length that leaves no offsets for marks is none.
    @Test func hugeLength() {
        let record = #"{"url":"http://shop.test/f","etag":"\"v1\"","length":\#(Int64.max),"starts":[50]}"#
        #expect(PartedPlan(Array(record.utf8), url: "http://shop.test/f") == nil)
    }

    /// The bytes on the disk become the parts of another run, including a part that reached beyond the start of another slot.
    @Test func restoring() throws {
        var plan = plan()
        plan.spread(over: 4)
        var marks = DownloadRecord.offsets(in: plan.marks)
        let starts = plan.slots
        // From 0 beyond the second slot, a hole, and something from the ninth.
        marks[0] = starts[2] + 5
        marks[1] = starts[1] + 1
        marks[8] = starts[8] + 7
        let begun = plan.begun(by: marks)
        #expect(begun == [0, 1, 8])
        let stored = try plan.encoded()
        let bytes = try #require(stored)
        let read = PartedPlan(bytes, url: "http://shop.test/f")
        var other = try #require(read)
        #expect(other.draftSize == plan.draftSize)
        other.restore(
            marks: marks, extents: [0: Self.size, 1: Self.size, 8: starts[8] + 3])
        #expect(other.parts.map(\.slot) == [0, 8])
        #expect(other.parts.map(\.position) == [starts[2] + 5, starts[8] + 3])
        #expect(other.parts.map(\.end) == [starts[8], Self.size])
        #expect(other.written == starts[2] + 5 + 3)
    }
}
