import FoundationEssentials
import RxTransfers
import Synchronization
import TestServers
import Testing

/// Processes that are killed in the middle of a transfer, and others that go on.
@Suite(.timeLimit(.minutes(2))) struct KilledTransferTests {
    private static let content = UploadWireTests.content(600_000)

    /// Kills a process once its transfer has started, and the server holds it for the time after `count` others.
    private func kill(_ process: ChildProcess, heldBy holds: Board<Int>, after count: Int) async throws {
        // The record is there before that line.
        while let line = try await process.nextLine(), !line.hasPrefix("started") {}
        _ = try await holds.until { $0 > count ? $0 : nil }
        try await process.kill()
    }

    /// Kills a process once its transfer has started and moved so many bytes.
    private func kill(_ process: ChildProcess, at bytes: Int) async throws {
        var (hasStarted, isReached) = (false, false)
        while !(hasStarted && isReached), let line = try await process.nextLine() {
            // The record is there before that line.
            if line.hasPrefix("started") { hasStarted = true }
            if Self.bytes(line) >= bytes { isReached = true }
            #expect(!line.hasPrefix("finished") && !line.hasPrefix("failed"), "\(line)")
        }
        try await process.kill()
    }

    private func lines(_ process: ChildProcess) async throws -> [String] {
        try await process.ended().text.split(separator: "\n").map(String.init)
    }

    private static func bytes(_ line: String) -> Int {
        line.hasPrefix("progress ") ? Int(line.dropFirst(9)) ?? 0 : 0
    }

    /// An upload by the draft of the IETF.
    @Test func draft() async throws {
        var settings = DraftUploadServer.Settings()
        settings.digest = UploadWireTests.digest
        settings.faults = [.hold(after: 200_000), .hold(after: 150_000)]
        let server = try DraftUploadServer(settings)
        let folder = try TemporaryFolder()
        let path = try folder.file("film", Self.content)
        for run in 0..<2 {
            try await kill(
                try .isolated("transfer-probe", ["draft", server.baseURL + "/films", path]),
                heldBy: server.holds, after: run)
            #expect(try folder.names.contains { $0.hasSuffix(".json") })
        }
        let last = try await lines(
            try .isolated("transfer-probe", ["draft", server.baseURL + "/films", path]))
        #expect(last.last == "finished 200", "\(last.suffix(3))")
        #expect(last.contains { $0.hasPrefix("verified sha-256") })
        expectSame(server.uploads.map(\.bytes), [Self.content])
        #expect(server.log.received <= Self.content.count * 101 / 100)
        #expect(try folder.names == ["film"])
    }

    /// An upload by tus; a file that changes between two runs is refused.
    @Test func tus() async throws {
        var settings = TusServer.Settings()
        settings.faults = [.hold(after: 200_000)]
        let server = try TusServer(settings)
        let folder = try TemporaryFolder()
        let path = try folder.file("film", Self.content)
        try await kill(
            try .isolated("transfer-probe", ["tus", server.baseURL + "/files", path]),
            heldBy: server.holds, after: 0)
        var changed = Self.content
        changed[0] ^= 1
        _ = try folder.file("film", changed)
        let refused = try await lines(
            try .isolated("transfer-probe", ["tus", server.baseURL + "/files", path]))
        #expect(refused.last?.contains("contentChanged") == true, "\(refused)")
        _ = try folder.file("film", Self.content)
        let last = try await lines(
            try .isolated("transfer-probe", ["tus", server.baseURL + "/files", path]))
        #expect(last.last == "finished 204", "\(last.suffix(3))")
        expectSame(server.uploads.map(\.bytes), [Self.content])
        #expect(try folder.names == ["film"])
    }

    /// A download in parts.
    @Test func download() async throws {
        let gate = try Gate()
        let content = Self.content
        // All requests together get so many bytes before the gate opens.
        let allowance = Mutex(200_000)
        let server = try RawServer { request in
            var (first, last) = (0, content.count - 1)
            if let range = request.field("Range") {
                let ends = range.dropFirst(6).split(separator: "-").compactMap { Int($0) }
                (first, last) = (ends[0], ends[1])
            }
            let body = content[first...last]
            let head =
                "HTTP/1.1 \(request.field("Range") == nil ? 200 : 206) OK\r\nETag: \"v1\"\r\n"
                + "Accept-Ranges: bytes\r\nContent-Range: bytes \(first)-\(last)/\(content.count)\r\n"
                + "Content-Length: \(body.count)\r\n\r\n"
            let count = allowance.withLock { allowance in
                defer { allowance -= min(allowance, body.count) }
                return min(allowance, body.count)
            }
            return [
                .send(head), .send(Array(body.prefix(count))), .wait(gate),
                .send(Array(body.dropFirst(count))),
            ]
        }
        let folder = try TemporaryFolder()
        let path = folder.file("map")
        try await kill(
            try .isolated("transfer-probe", ["download", server.baseURL + "/map", path]), at: 150_000)
        #expect(try folder.names.contains("map.part.json"))
        #expect(try !folder.names.contains("map"))
        gate.open()
        let last = try await lines(
            try .isolated("transfer-probe", ["download", server.baseURL + "/map", path]))
        #expect(last.last == "finished \(Self.content.count) ", "\(last.suffix(3))")
        #expect(last.first.map { !$0.hasPrefix("started 0") } == true, "\(last.prefix(2))")
        expectSame(try folder.content("map"), Self.content)
        #expect(try folder.names == ["map"])
    }
}
