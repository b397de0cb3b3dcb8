import FoundationEssentials
import HTTPTypes
import RxClient
import RxCurl
import RxHTTP
import RxLite
import Synchronization
import TestServers
import Testing

/// Downloads over real connections to real files, with servers and processes that die half-way.
@Suite(.timeLimit(.minutes(1))) struct DownloadTests {
    private static let content = RangeFile.content(300_000)
    private static let offsets = [0, 1, 1000, 16_384, 65_536, 131_072, 131_073, 200_000, 299_999]

    private func download(
        _ url: String, to path: String, retries: Int, over transport: CurlTransport
    ) async throws -> [DownloadEvent] {
        var configuration = ClientConfiguration()
        configuration.options.retry = .exponentialBackoff(maxRetries: retries, backoff: .constant(.zero))
        return try await Client(configuration: configuration, transport: transport)
            .download(InlineEndpoint(.get, url), to: path).collect().value()
    }

    private func expect(_ events: [DownloadEvent], _ directory: TemporaryFolder, _ content: [UInt8]) throws {
        guard case .finished(let file) = events.last else {
            Issue.record("the last value is not the file")
            return
        }
        #expect(file.size == Int64(content.count))
        #expect(try Bytes(directory.content("f")) == Bytes(content))
        #expect(try directory.names == ["f"])
    }

    /// The first byte of each requested range.
    private func starts(_ server: RawServer) -> [Int] {
        server.record.requests.map { request in
            request.field("Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
        }
    }

    // MARK: - Death of the server

    @Test(arguments: offsets, [false, true])
    func goesOnWhenTheServerBreaksOff(count: Int, isReset: Bool) async throws {
        let file = RangeFile(Self.content)
        file.state.withLock { $0.breaks = [(count, isReset ? .reset : .close)] }
        let server = try file.serve()
        let directory = try TemporaryFolder()
        let events = try await withTransport { transport in
            try await download(server.baseURL + "/f", to: directory.file("f"), retries: 1, over: transport)
        }
        try expect(events, directory, Self.content)
        let starts = starts(server)
        #expect(starts.count == 2)
        // Bytes lost by a reset were not received.
        #expect(isReset ? starts[1] <= count : starts[1] == count)
    }

    @Test func goesOnManyTimes() async throws {
        let file = RangeFile(Self.content)
        file.state.withLock { $0.breaks = Array(repeating: (10_000, .close), count: 20) }
        let server = try file.serve()
        let directory = try TemporaryFolder()
        let events = try await withTransport { transport in
            try await download(server.baseURL + "/f", to: directory.file("f"), retries: 20, over: transport)
        }
        try expect(events, directory, Self.content)
        #expect(starts(server) == (0...20).map { $0 * 10_000 })
    }

    @Test(arguments: offsets)
    func beginsAnewWhenTheFileHasChanged(count: Int) async throws {
        let file = RangeFile(Self.content)
        file.state.withLock { $0.breaks = [(count, .close)] }
        let server = try file.serve()
        let directory = try TemporaryFolder()
        let other = Array(Self.content.reversed())
        let events = try await withTransport { transport in
            let url = server.baseURL + "/f"
            await #expect(throws: NetworkError.self) {
                try await download(url, to: directory.file("f"), retries: 0, over: transport)
            }
            #expect(try !directory.names.contains("f"))
            file.state.withLock {
                $0.content = other
                $0.tag = "\"v2\""
            }
            return try await download(url, to: directory.file("f"), retries: 0, over: transport)
        }
        try expect(events, directory, other)
    }

    @Test func nginxGoesOnToo() async throws {
        let server = try NginxServer.shared()
        let directory = try TemporaryFolder()
        let url = server.baseURL + "/large"
        let events = try await withTransport { transport in
            let client = Client(configuration: ClientConfiguration(), transport: transport)
            _ = try await client.download(.get(url), to: directory.file("f"))
                .filter { event in
                    if case .progress(let progress) = event { progress.bytes > 0 } else { false }
                }
                .value()
            #expect(try directory.names == ["f.part", "f.part.json"])
            return try await download(url, to: directory.file("f"), retries: 0, over: transport)
        }
        try expect(events, directory, NginxServer.large)
        guard case .finished(let file) = events.last else { return }
        #expect(file.resumedFrom > 0)
        // All bytes may have arrived before the first one ended.
        #expect([206, 416].contains(file.head.status.code))
    }

    @Test func anErrorIsNoFile() async throws {
        let server = try NginxServer.shared()
        let directory = try TemporaryFolder()
        try await withTransport { transport in
            let error = await #expect(throws: NetworkError.self) {
                try await download(
                    server.baseURL + "/status/404", to: directory.file("f"), retries: 0, over: transport)
            }
            #expect(error?.code == .status)
            #expect(error?.message == "as asked")
            #expect(try directory.names.isEmpty)
            let missing = await #expect(throws: NetworkError.self) {
                try await download(
                    server.baseURL + "/large", to: directory.file("no/f"), retries: 0, over: transport)
            }
            #expect(missing?.code == .file)
            let after = try await transport.get(server.baseURL + "/json")
            #expect(after.text == NginxServer.json)
        }
    }

    // MARK: - Death of the process

    @Test(arguments: offsets)
    func goesOnInAnotherProcess(count: Int) async throws {
        let file = RangeFile(Self.content)
        file.state.withLock { $0.breaks = [(count, .stall)] }
        let server = try file.serve()
        let directory = try TemporaryFolder()
        let first = try downloadProbe(server.baseURL + "/f", to: directory.file("f"))
        while let line = try await first.nextLine(), line != "progress \(count)" {
            #expect(line.hasPrefix("progress"))
        }
        // Before the first byte, the file may be created after the progress is reported.
        while count == 0, try directory.names != ["f.part", "f.part.json"] {
            try Task.checkCancellation()
            await Task.yield()
        }
        try await first.kill()
        #expect(try directory.names == ["f.part", "f.part.json"])
        #expect(try Bytes(directory.content("f.part")) == Bytes(Array(Self.content.prefix(count))))
        let second = try downloadProbe(server.baseURL + "/f", to: directory.file("f"))
        #expect(try await second.lastLine() == "finished 300000 \(count)")
        #expect(try Bytes(directory.content("f")) == Bytes(Self.content))
        #expect(try directory.names == ["f"])
        #expect(starts(server) == [0, count])
    }

    /// Killed at a random moment, again and again, until it completes.
    @Test func comesThroughHoweverOftenItIsKilled() async throws {
        let content = NginxServer.large
        let file = RangeFile(content)
        let server = try file.serve()
        let directory = try TemporaryFolder()
        var lines = 1
        while true {
            let probe = try downloadProbe(server.baseURL + "/f", to: directory.file("f"))
            var said: [String] = []
            while said.count < lines, let line = try await probe.nextLine() { said.append(line) }
            try await probe.kill()
            // Between the move and the removal of the record both files exist.
            if try directory.names.contains("f") { break }
            lines += 1
        }
        #expect(try Bytes(directory.content("f")) == Bytes(content))
        #expect(try !directory.names.contains("f.part"))
        #expect(starts(server) == starts(server).sorted())
    }

    /// A process that has received 150,000 bytes of the file and gets no more.
    private func haltedProbe(
        _ file: RangeFile, _ server: RawServer, _ directory: TemporaryFolder
    ) async throws -> ChildProcess {
        file.state.withLock { $0.breaks = [(150_000, .stall)] }
        let probe = try downloadProbe(server.baseURL + "/f", to: directory.file("f"))
        while let line = try await probe.nextLine(), line != "progress 150000" {}
        return probe
    }

    @Test func theKilledProcessLeavesNothingOfAnOldVersion() async throws {
        let file = RangeFile(Self.content)
        let (server, directory) = (try file.serve(), try TemporaryFolder())
        let first = try await haltedProbe(file, server, directory)
        try await first.kill()
        let other = Array(Self.content.reversed())
        file.state.withLock {
            $0.content = other
            $0.tag = "\"v2\""
        }
        let second = try downloadProbe(server.baseURL + "/f", to: directory.file("f"))
        #expect(try await second.lastLine() == "finished 300000 0")
        #expect(try Bytes(directory.content("f")) == Bytes(other))
    }

    /// The second does not touch the first one's file, and a killed process blocks no other.
    @Test func twoProcessesDoNotDownloadToOnePath() async throws {
        let file = RangeFile(Self.content)
        let (server, directory) = (try file.serve(), try TemporaryFolder())
        let first = try await haltedProbe(file, server, directory)
        let second = try downloadProbe(server.baseURL + "/f", to: directory.file("f"))
        #expect(try await second.lastLine()?.contains("is locked by another process") == true)
        #expect(try directory.content("f.part").count == 150_000)
        #expect(starts(server) == [0])
        try await first.kill()
        let third = try downloadProbe(server.baseURL + "/f", to: directory.file("f"))
        #expect(try await third.lastLine() == "finished 300000 150000")
        #expect(try Bytes(directory.content("f")) == Bytes(Self.content))
        #expect(try directory.names == ["f"])
    }

    // MARK: - Two downloads to one file

    /// Other ways to write a path of a folder's file `f`, each for the path of the folder.
    private static let spellings: [@Sendable (String) -> String] = [
        { $0 + "/./f" }, { $0 + "//f" }, { $0 + "/folder/../f" }, { $0 + "/folder/link/f" },
        { folder in
            let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
            return Array(repeating: "..", count: depth).joined(separator: "/") + folder + "/f"
        },
    ]

    /// A folder with another one in it, in which `link` leads back.
    private func linkedFolder() throws -> TemporaryFolder {
        let directory = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: directory.file("folder"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("folder/link"), withDestinationPath: directory.path)
        return directory
    }

    @Test(arguments: spellings.indices)
    func aPathIsTheSameInEverySpelling(spelling: Int) async throws {
        let file = RangeFile(Self.content)
        file.state.withLock { $0.breaks = [(150_000, .stall)] }
        let (server, directory) = (try file.serve(), try linkedFolder())
        let other = Self.spellings[spelling](directory.path)
        try await withTransport { transport in
            let client = Client(configuration: ClientConfiguration(), transport: transport)
            let received = Board<Int64>(0)
            let first = client.download(.get(server.baseURL + "/f"), to: directory.file("f"))
                .subscribe(onNext: { event in
                    if case .progress(let progress) = event { received.update { $0 = progress.bytes } }
                })
            _ = try await received.until { $0 == 150_000 ? true : nil }
            let error = await #expect(throws: NetworkError.self) {
                try await download(server.baseURL + "/f", to: other, retries: 0, over: transport)
            }
            #expect(error?.code == .file)
            #expect(error?.message.contains("another download") == true)
            #expect(starts(server) == [0])
            first.cancel()
            let events = try await download(server.baseURL + "/f", to: other, retries: 0, over: transport)
            guard case .finished(let whole) = events.last else { return }
            #expect(whole.resumedFrom == 150_000)
            #expect(whole.path == other)
        }
        #expect(try Bytes(directory.content("f")) == Bytes(Self.content))
        #expect(try directory.names == ["f", "folder"])
    }

    @Test(arguments: spellings.indices)
    func aPathIsTheSameInEverySpellingOfAnotherProcess(spelling: Int) async throws {
        let file = RangeFile(Self.content)
        let (server, directory) = (try file.serve(), try linkedFolder())
        let other = Self.spellings[spelling](directory.path)
        let first = try await haltedProbe(file, server, directory)
        let second = try downloadProbe(server.baseURL + "/f", to: other)
        #expect(try await second.lastLine()?.contains("is locked by another process") == true)
        #expect(starts(server) == [0])
        try await first.kill()
        let third = try downloadProbe(server.baseURL + "/f", to: other)
        #expect(try await third.lastLine() == "finished 300000 150000")
        #expect(try Bytes(directory.content("f")) == Bytes(Self.content))
        #expect(try directory.names == ["f", "folder"])
    }

    /// As `rename` has it: a link at the path is replaced, and what it leads to stays. So neither link names a file
    /// that another download writes to.
    @Test(arguments: [true, false])
    func aLinkAtThePathIsReplaced(isSymbolic: Bool) async throws {
        let server = try RangeFile(Self.content).serve()
        let directory = try TemporaryFolder()
        let target = try directory.file("target", [1, 2, 3])
        if isSymbolic {
            try FileManager.default.createSymbolicLink(
                atPath: directory.file("f"), withDestinationPath: target)
        } else {
            try FileManager.default.linkItem(atPath: target, toPath: directory.file("f"))
        }
        try await withTransport { transport in
            let paths = [directory.file("f"), target]
            let both = paths.map { path in
                Client(configuration: ClientConfiguration(), transport: transport)
                    .download(.get(server.baseURL + "/f"), to: path).last()
            }
            let ends = try await Observable.merge(both).collect().value()
            #expect(ends.count == 2)
        }
        #expect(try Bytes(directory.content("f")) == Bytes(Self.content))
        #expect(try Bytes(directory.content("target")) == Bytes(Self.content))
        #expect(try directory.names == ["f", "target"])
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("f"))
        #expect(attributes[.type] as? FileAttributeType == .typeRegular)
    }

    // MARK: - Folders

    /// Whatever the server says, nothing outside of the folder changes.
    @Test func aFolderGetsAFileOfTheServersName() async throws {
        let field = "Content-Disposition: attachment; filename=\"../../victim\""
        let server = try RawServer { _ in
            [.send("HTTP/1.1 200 X\r\n\(field)\r\nContent-Length: 2\r\n\r\nok")]
        }
        let directory = try linkedFolder()
        _ = try directory.file("victim", [1])
        let events = try await withTransport { transport in
            var events: [[DownloadEvent]] = []
            for path in ["folder", "folder/link/folder"] {
                events.append(
                    try await download(
                        server.baseURL + "/f", to: directory.file(path), retries: 0, over: transport))
            }
            return events
        }
        let paths = events.compactMap { events -> String? in
            if case .finished(let file) = events.last { file.path } else { nil }
        }
        #expect(paths == [directory.file("folder/victim"), directory.file("folder/link/folder/victim (1)")])
        #expect(try directory.content("folder/victim") == Array("ok".utf8))
        #expect(try directory.content("folder/victim (1)") == Array("ok".utf8))
        #expect(try directory.content("victim") == [1])
        #expect(try directory.names == ["folder", "victim"])
    }

    @Test func aFolderResumesInAnotherProcess() async throws {
        let file = RangeFile(Self.content)
        file.state.withLock { $0.breaks = [(150_000, .stall)] }
        let (server, directory) = (try file.serve(), try TemporaryFolder())
        let first = try downloadProbe(server.baseURL + "/f.osm", to: directory.path)
        while let line = try await first.nextLine(), line != "progress 150000" {}
        let second = try downloadProbe(server.baseURL + "/f.osm", to: directory.path + "/")
        #expect(try await second.lastLine()?.contains("is locked by another process") == true)
        try await first.kill()
        let third = try downloadProbe(server.baseURL + "/f.osm", to: directory.path + "/.")
        #expect(try await third.lastLine() == "finished 300000 150000")
        #expect(try Bytes(directory.content("f.osm")) == Bytes(Self.content))
        #expect(try directory.names == ["f.osm"])
    }
}
