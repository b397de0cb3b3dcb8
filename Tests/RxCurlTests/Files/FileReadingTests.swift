import Foundation
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

/// A consumer that takes bytes if they are available without waiting.
@Suite(.timeLimit(.minutes(1))) struct FileReadingTests {
    /// Ends with a full block of the page cache: a partial one may be locked while it is written to the disk.
    static let content = (0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    struct Memory: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Whether the bytes at an offset are in memory, if the file system supports the question.
        var has: @Sendable (Int64) -> Bool
        var takesSome = true
    }

    static let memories = [
        Memory(testDescription: "all of it", has: { _ in true }),
        Memory(testDescription: "nothing, or unknown", has: { _ in false }, takesSome: false),
        Memory(testDescription: "the first megabyte", has: { $0 < 1_000_000 }),
        Memory(
            testDescription: "the last two, when the pool reads already", has: { $0 >= 1_000_000 },
            takesSome: false),
        Memory(testDescription: "every other 300,000", has: { $0 / 300_000 % 2 == 0 }),
        Memory(testDescription: "blocks at odd ten thousands", has: { $0 / 10_000 % 2 == 1 }),
    ]

    @Test(arguments: memories, [0..<content.count, 1..<2_700_001, 5..<5, 7..<524_295, 7..<524_296])
    func everyByteComesOnce(of memory: Memory, range: Range<Int>) async throws {
        try await withFiles { files, directory in
            let path = try directory.file("a", Self.content)
            let part = try await Self.part(of: path, range, in: files)
            let taker = Taker(part, in: files, isTakable: memory.has)
            let log = try await taker.board.until { $0.isEnded ? $0 : nil }
            #expect(log.error == nil)
            #expect(Bytes(log.bytes) == Bytes(Array(Self.content[range])))
            if !memory.takesSome { #expect(log.taken == 0) }
        }
    }

    /// Bytes that were just written are in memory, which the usual file systems of Linux can tell.
    @Test func whatIsInMemoryIsTaken() async throws {
        try await withFiles { files, directory in
            let path = try directory.file("a", Self.content)
            let canTell = try File(reading: path).isCached(at: 0)
            let part = try await Self.part(of: path, 0..<Self.content.count, in: files)
            let taker = Taker(part, in: files, isTakable: { _ in true })
            let log = try await taker.board.until { $0.isEnded ? $0 : nil }
            #expect(log.taken > 0 || !canTell)
            #expect(Bytes(log.bytes) == Bytes(Self.content))
        }
    }

    enum Change: CaseIterable { case content, size }

    /// For each way of reading, at any position, also right before the last bytes.
    @Test(
        arguments: [
            (true, 200_000), (true, 1_500_000), (true, content.count - 10_000), (false, 200_000),
            (false, 1_500_000),
        ], Change.allCases)
    func aFileThatChangesIsNeverWhole(_ reading: (isTakable: Bool, limit: Int), change: Change) async throws {
        let (isTakable, limit) = reading
        try await withFiles { files, directory in
            let path = try directory.file("a", Self.content)
            // With an older modification time, since the clocks of file systems have a coarse grain.
            let past = Date(timeIntervalSinceNow: -100)
            try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path)
            let part = try await Self.part(of: path, 0..<Self.content.count, in: files)
            let isChanged = Board(false)
            let taker = Taker(
                part, in: files, isTakable: { _ in isTakable },
                whenRead: { _, count in
                    let isTime = isChanged.update { isChanged in
                        guard !isChanged, count >= limit, count < Self.content.count else { return false }
                        isChanged = true
                        return true
                    }
                    guard isTime else { return }
                    let file = FileHandle(forWritingAtPath: path)
                    switch change {
                    case .content: file?.write(Data([9]))
                    case .size: file?.truncateFile(atOffset: UInt64(limit / 2))
                    }
                    file?.closeFile()
                })
            let log = try await taker.board.until { $0.isEnded ? $0 : nil }
            // After a piece that includes the last bytes there is nothing left to check.
            guard isChanged.contents else { return #expect(Bytes(log.bytes) == Bytes(Self.content)) }
            #expect(log.error?.code == .file)
            #expect(log.error?.message.contains("changed") == true)
            #expect(log.bytes.count < Self.content.count)
            // A change is noticed with the next check at the latest.
            #expect(log.bytes.count <= limit + (1 << 20) + (512 << 10))
        }
    }

    @Test func nothingIsTakenAfterTheEnd() async throws {
        try await withFiles { files, directory in
            let path = try directory.file("a", Self.content)
            let part = try await Self.part(of: path, 0..<Self.content.count, in: files)
            let taker = Taker(
                part, in: files, isTakable: { _ in true },
                whenRead: { taker, count in if count > 1_000_000 { taker.cancel() } })
            let log = try await taker.board.until { $0.isEnded ? $0 : nil }
            #expect(log.error == nil)
            #expect(log.bytes.count < Self.content.count)
            #expect(Self.content.starts(with: log.bytes))
        }
    }

    /// The body as a transport sees it if it is a file.
    private static func part(
        of path: String, _ range: Range<Int>, in files: LoopFileSystem
    ) async throws -> FilePart {
        let body = Body.file(path, range: Int64(range.lowerBound)..<Int64(range.upperBound))
        guard case .streamed(let body) = body else { throw NetworkError(.file, "not streamed") }
        let content = try await body.open(files).value()
        #expect(content.length == Int64(range.count))
        return try #require(content.file)
    }
}
