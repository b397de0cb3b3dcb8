import FoundationEssentials
import RxNetworking
import TestServers
import Testing

@testable import RxTransfers

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Disks that are full, files that change, and processes that share a record.
@Suite(.timeLimit(.minutes(2))) struct TransferRobustnessTests {
    private static let content = UploadWireTests.content(2_000_000)

    private func lines(_ process: ChildProcess) async throws -> [String] {
        try await process.ended().text.split(separator: "\n").map(String.init)
    }

    /// A probe whose files may have so many blocks of 512 bytes.
    private func limited(_ blocks: Int, _ arguments: [String]) throws -> ChildProcess {
        // A write beyond the limit fails, instead of killing the process.
        let script = "trap '' XFSZ; ulimit -f \(blocks); exec \"$0\" \"$@\""
        return try ChildProcess(
            "/bin/bash", ["-c", script, ChildProcess.product("transfer-probe")] + arguments,
            environment: ["PATH": "/usr/bin:/bin", "no_proxy": "*"])
    }

    /// A download that finds no room fails, and goes on from what it has once there is some.
    @Test(arguments: [1, 4])
    func fullDisk(parts: Int) async throws {
        let server = try ObjectWireServer.start(Self.content)
        let folder = try TemporaryFolder()
        let arguments = ["download", server.baseURL + "/map", folder.file("map"), "parts=\(parts)"]
        // bash counts in KiB.
        let failed = try await lines(limited(1000, arguments))
        #expect(failed.last?.hasPrefix("failed file") == true, "\(failed.suffix(2))")
        #expect(try !folder.names.contains("map"))
        let last = try await lines(.isolated("transfer-probe", arguments))
        #expect(last.last?.hasPrefix("finished \(Self.content.count)") == true, "\(last.suffix(2))")
        if parts == 1 { #expect(last.first != "started 0 1", "\(last.prefix(2))") }
        expectSame(try folder.content("map"), Self.content)
        #expect(try folder.names == ["map"])
    }

    /// An upload whose record finds no room fails before it relies on it.
    @Test func fullDiskOfRecord() async throws {
        let server = try TusServer()
        let folder = try TemporaryFolder()
        let path = try folder.file("film", Self.content)
        let failed = try await lines(limited(0, ["tus", server.baseURL + "/files", path]))
        #expect(failed.last?.hasPrefix("failed file") == true, "\(failed.suffix(2))")
        #expect(server.uploads.allSatisfy { $0.bytes.isEmpty })
    }

    /// The way a file changes while its upload is interrupted, or while it runs.
    enum Change: CaseIterable, Sendable {
        case shortened, changed, replaced

        func apply(_ path: String) throws {
            switch self {
            case .shortened: #expect(unsafe truncate(path, 1_500_000) == 0)
            case .changed:
                let file = unsafe fopen(path, "r+")
                #expect(unsafe fseek(file, 1_900_000, SEEK_SET) == 0)
                #expect(unsafe fputs("tea", file) >= 0)
                #expect(unsafe fclose(file) == 0)
            case .replaced: try TransferRobustnessTests.replace(path, sameTime: true)
            }
        }
    }

    /// Another file of the same size, and perhaps of the same time, comes in the place of the first.
    private static func replace(_ path: String, sameTime: Bool) throws {
        var status = stat()
        #expect(unsafe stat(path, &status) == 0)
        var other = content
        other[1_999_999] ^= 1
        try Data(other).write(to: URL(filePath: path + ".new"))
        if sameTime {
            #if canImport(Glibc)
            let times = [status.st_atim, status.st_mtim]
            #else
            let times = [status.st_atimespec, status.st_mtimespec]
            #endif
            #expect(unsafe utimensat(AT_FDCWD, path + ".new", times, 0) == 0)
        }
        #expect(unsafe rename(path + ".new", path) == 0)
    }

    /// A file that changes between two runs is refused, with a digest and without.
    @Test(arguments: Change.allCases, ["digest=sha256", "digest=none"])
    func changeBetweenRuns(change: Change, digest: String) async throws {
        var settings = TusServer.Settings()
        settings.faults = [.hold(after: 700_000)]
        let server = try TusServer(settings)
        let folder = try TemporaryFolder()
        let path = try folder.file("film", Self.content)
        let arguments = ["tus", server.baseURL + "/files", path, digest]
        let first = try ChildProcess.isolated("transfer-probe", arguments)
        _ = try await server.holds.until { $0 > 0 ? $0 : nil }
        try await first.kill()
        try change.apply(path)
        let refused = try await lines(.isolated("transfer-probe", arguments))
        #expect(refused.last?.contains("contentChanged") == true, "\(refused.suffix(2))")
        #expect(server.uploads.allSatisfy { $0.bytes.count < Self.content.count })
    }

    /// A file that changes while it is sent is refused, and what the server has is not called complete.
    @Test(arguments: Change.allCases)
    func changeInMidTransfer(change: Change) async throws {
        var settings = TusServer.Settings()
        settings.faults = [.none, .hold(after: 300_000)]
        let server = try TusServer(settings)
        let link = try LinkProxy(to: server.port)
        let folder = try TemporaryFolder()
        let path = try folder.file("film", Self.content)
        let process = try ChildProcess.isolated(
            "transfer-probe", ["tus", link.baseURL + "/files", path, "partSize=500000", "retries=5"])
        _ = try await server.holds.until { $0 > 0 ? $0 : nil }
        try change.apply(path)
        link.cut()
        let refused = try await lines(process)
        #expect(refused.last?.contains("contentChanged") == true, "\(refused.suffix(2))")
    }

    /// A second process with the same record is refused.
    @Test func twoProcesses() async throws {
        var settings = TusServer.Settings()
        settings.faults = [.hold(after: 700_000)]
        let server = try TusServer(settings)
        let folder = try TemporaryFolder()
        let path = try folder.file("film", Self.content)
        let arguments = ["tus", server.baseURL + "/files", path]
        let first = try ChildProcess.isolated("transfer-probe", arguments)
        _ = try await server.holds.until { $0 > 0 ? $0 : nil }
        let second = try await lines(.isolated("transfer-probe", arguments))
        #expect(second.last?.hasPrefix("failed locked") == true, "\(second)")
        try await first.kill()
        let third = try await lines(.isolated("transfer-probe", arguments))
        #expect(third.last?.hasPrefix("finished") == true, "\(third.suffix(2))")
        expectSame(server.uploads.map(\.bytes), [Self.content])
    }

    /// A second download to the same file, of another process, is refused.
    @Test func twoDownloads() async throws {
        let gate = try Gate()
        let content = Self.content
        let server = try RawServer { _ in
            let head =
                "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: none\r\n"
                + "Content-Length: \(content.count)\r\n\r\n"
            return [
                .send(head), .send(Array(content.prefix(50_000))), .wait(gate),
                .send(Array(content.dropFirst(50_000))),
            ]
        }
        let folder = try TemporaryFolder()
        let arguments = ["download", server.baseURL + "/map", folder.file("map")]
        let first = try ChildProcess.isolated("transfer-probe", arguments)
        while let line = try await first.nextLine(), !line.hasPrefix("started") {}
        let second = try await lines(.isolated("transfer-probe", arguments))
        #expect(second.last?.hasPrefix("failed file") == true, "\(second)")
        gate.open()
        let last = try await lines(first)
        #expect(last.last?.hasPrefix("finished") == true, "\(last.suffix(2))")
        expectSame(try folder.content("map"), content)
    }
}
