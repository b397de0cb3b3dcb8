import Dispatch
import Foundation
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

@Suite struct LoopFileSystemTests {
    @Test(
        arguments: [
            (0, nil), (0, 10), (131_071, 2), (131_072, nil), (300_000, nil), (299_999, nil), (400_000, nil),
            (5, 0),
            (1, 262_144),
        ] as [(Int, Int?)])
    func readsFromAnOffset(offset: Int, count: Int?) async throws {
        let content = Self.content(300_000)
        try await withFiles { files, directory in
            let path = try directory.file("a", content)
            let pieces = try await files.read(path, from: Int64(offset), count: count.map(Int64.init))
                .collect().value()
            #expect(pieces.allSatisfy { !$0.isEmpty })
            let expected = content.dropFirst(offset).prefix(count ?? .max)
            #expect(pieces.flatMap { $0 } == Array(expected))
        }
    }

    /// The end of the loop proves that the result has arrived.
    @Test func whatArrivesDuringAPauseWaits() throws {
        let loop = EventLoop(name: "paused")
        let directory = try TemporaryFolder()
        let path = try directory.file("a", Self.content(1000))
        let files = LoopFileSystem(loop: loop)
        let log = Mutex<[String]>([])
        // Nothing begins before the pauses.
        let pauses = DispatchSemaphore(value: 0)
        loop.schedule { pauses.wait() }
        let running = [
            files.read(path, from: 0, count: nil, expecting: nil)
                .subscribe(
                    onNext: { bytes in log.withLock { $0.append("\(bytes.count)") } },
                    onFinish: { log.withLock { $0.append("end") } }),
            files.contents(of: path, limit: 2000)
                .subscribe(
                    onNext: { bytes in log.withLock { $0.append("\(bytes?.count ?? 0)") } },
                    onFinish: { log.withLock { $0.append("end") } }),
            files.read(directory.file("none"), from: 0, count: nil, expecting: nil)
                .subscribe(onFailure: { error in log.withLock { $0.append(error.code.rawValue) } }),
        ]
        for subscription in running { subscription.pause() }
        pauses.signal()
        loop.shutDown()
        #expect(log.withLock { $0 } == [])
        for subscription in running { subscription.resume() }
        #expect(log.withLock { $0.filter { $0 != "end" } } == ["1000", "1000", "file"])
    }

    /// Bytes that take long to produce do not block the loop.
    @Test func theBytesAreMadeWhereTheyAreWritten() async throws {
        try await withFiles { files, directory in
            let isOnLoop = Mutex<[Bool]>([])
            let content = Self.content(1000)
            let loop = files.loop
            _ = try await files.replace(
                directory.file("a"),
                making: {
                    isOnLoop.withLock { $0.append(loop.ownsCurrentThread) }
                    return content
                }
            ).value()
            #expect(isOnLoop.withLock { $0 } == [false])
            #expect(try directory.content("a") == content)
        }
    }

    @Test func whatCannotBeReadSaysWhichAndWhy() async throws {
        try await withFiles { files, directory in
            for (path, reason) in [(directory.file("none"), "ENOENT"), (directory.path, "EINVAL")] {
                let error = try #require(
                    await #expect(throws: NetworkError.self) { try await files.read(path).collect().value() })
                #expect(error.code == .file)
                #expect(error.message.contains(path))
                #expect(error.message.contains(reason))
            }
        }
    }

    @Test func aFileThatIsNotAsExpectedIsNotRead() async throws {
        try await withFiles { files, directory in
            let path = try directory.file("a", Self.content(10))
            let status = try #require(try await files.status(of: path).value())
            #expect(status.size == 10)
            _ = try directory.file("a", Self.content(11))
            let error = try #require(
                await #expect(throws: NetworkError.self) {
                    try await files.read(path, from: 0, count: nil, expecting: status).collect().value()
                })
            #expect(error.code == .file)
            #expect(error.message.contains("changed"))
        }
    }

    /// The change comes while the first piece is held.
    @Test func aFileThatChangesWhileItIsReadFails() async throws {
        try await withFiles { files, directory in
            let path = try directory.file("a", Self.content(8 << 20))
            let status = try #require(try await files.status(of: path).value())
            let board = Board((bytes: 0, error: NetworkError?.none))
            let reading = Mutex<Subscription?>(nil)
            files.loop.schedule {
                let subscription = files.read(path, from: 0, count: nil, expecting: status).subscribe(
                    onNext: { piece in
                        if board.update({
                            $0.bytes += piece.count; return $0.bytes
                        }) == piece.count {
                            reading.withLock { $0 }?.pause()
                        }
                    }, onFailure: { error in board.update { $0.error = error } })
                reading.withLock { $0 = subscription }
            }
            _ = try await board.until { $0.bytes > 0 ? true : nil }
            _ = try directory.file("a", Self.content(8 << 20))
            reading.withLock { $0 }?.resume()
            let error = try await board.until { $0.error }
            #expect(error.code == .file)
            #expect(board.contents.bytes < 8 << 20)
        }
    }

    @Test func appendsInOrderAndSaysHowFarItIs() async throws {
        try await withFiles { files, directory in
            _ = try directory.file("a", Self.content(100))
            let chunks = (0..<2000).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0) }
            let sizes = try await files.append(.sequence(chunks), to: directory.file("a"), at: 40).collect()
                .value()
            let expected = Self.content(40) + chunks.flatMap { $0 }
            #expect(try directory.content("a") == expected)
            #expect(sizes.first == 40)
            #expect(sizes.last == Int64(expected.count))
            #expect(sizes == sizes.sorted())
            #expect(sizes.count < 100)
        }
    }

    @Test func aFailureOfTheChunksComesAfterWhatWasBeforeIt() async throws {
        try await withFiles { files, directory in
            let chunks = Observable.concat([
                .just(Self.content(5)), .fail(NetworkError(.connectionLost, "gone")),
            ])
            let error = await #expect(throws: NetworkError.self) {
                try await files.append(chunks, to: directory.file("a"), at: 0).collect().value()
            }
            #expect(error?.code == .connectionLost)
            let left = try directory.content("a")
            #expect(left == Self.content(5))
        }
    }

    @Test func chunksAreNotAskedForIfTheFileCannotBeOpened() async throws {
        try await withFiles { files, directory in
            let asked = Atomic<Bool>(false)
            let chunks = Observable<[UInt8], NetworkError> { _ in asked.store(true, ordering: .relaxed) }
            let error = await #expect(throws: NetworkError.self) {
                try await files.append(chunks, to: directory.file("no/a"), at: 0).collect().value()
            }
            #expect(error?.code == .file)
            let wasAsked = asked.load(ordering: .relaxed)
            #expect(!wasAsked)
        }
    }

    @Test func replacingIsWholeAndPrivate() async throws {
        try await withFiles { files, directory in
            _ = try directory.file("a", Self.content(1000))
            _ = try await files.replace(directory.file("a"), with: [1, 2]).collect().value()
            #expect(try directory.content("a") == [1, 2])
            #expect(try directory.names == ["a"])
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("a"))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            // A replacement that fails leaves no file behind.
            try FileManager.default.createDirectory(
                atPath: directory.file("b"), withIntermediateDirectories: false)
            await #expect(throws: NetworkError.self) {
                _ = try await files.replace(directory.file("b"), with: [1]).collect().value()
            }
            #expect(try directory.names == ["a", "b"])
        }
    }

    @Test func movesAndRemoves() async throws {
        try await withFiles { files, directory in
            _ = try directory.file("a", [1])
            _ = try directory.file("b", [2])
            _ = try await files.move(directory.file("a"), to: directory.file("b")).collect().value()
            #expect(try directory.content("b") == [1])
            for _ in 0..<2 { _ = try await files.remove(directory.file("b")).collect().value() }
            #expect(try directory.names.isEmpty)
            #expect(try await files.status(of: directory.file("b")).collect().value() == [nil])
        }
    }

    /// At any moment: `withFiles` ends the loop, which detects open handles.
    @Test func cancellingClosesTheFile() async throws {
        try await withFiles { files, directory in
            let path = try directory.file("a", Self.content(1 << 20))
            for round in 0..<40 {
                let copy = files.append(files.read(path), to: directory.file("b\(round)"), at: 0).subscribe()
                for _ in 0..<(round / 4) { await files.loop.poll() }
                copy.cancel()
            }
        }
    }

    @Test func shuttingDownEndsWhatRuns() async throws {
        let directory = try TemporaryFolder()
        let path = try directory.file("a", Self.content(4 << 20))
        let loop = EventLoop(name: "files")
        let files = LoopFileSystem(loop: loop)
        let ends = Board<[Completion<NetworkError>]>([])
        for round in 0..<20 {
            files.append(files.read(path), to: directory.file("b\(round)"), at: 0)
                .subscribe(onNext: { _ in }, onEnd: { end in ends.update { $0.append(end) } })
        }
        loop.shutDown()
        #expect(ends.contents.count == 20)
        let late = await #expect(throws: NetworkError.self) { try await files.read(path).collect().value() }
        #expect(late?.code == .shutDown)
    }

    private static func content(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    }
}
