import RxHTTP
import RxLite
import RxTesting
import Testing

@Suite struct MemoryFileSystemTests {
    let clock = VirtualScheduler()

    private func result<T>(_ stream: Observable<T, NetworkError>) throws -> ([T], NetworkError?) {
        let recorder = Recorder(stream, on: clock)
        try clock.run()
        guard case .failed(let error) = recorder.completion else {
            #expect(recorder.completion != nil)
            return (recorder.values, nil)
        }
        return (recorder.values, error)
    }

    @Test func readsInPiecesFromAnOffset() throws {
        let files = MemoryFileSystem(on: clock, pieceSize: 3)
        files["a"] = Array(0..<10)
        #expect(try result(files.read("a")).0 == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]])
        #expect(try result(files.read("a", from: 4, count: 4)).0 == [[4, 5, 6], [7]])
        #expect(try result(files.read("a", from: 10)).0.isEmpty)
        #expect(try result(files.read("a", from: 4, count: 0)).0.isEmpty)
        #expect(try result(files.read("b")).1?.code == .file)
    }

    @Test func aChangeWhileReadingIsNoticed() throws {
        let files = MemoryFileSystem(on: clock, latency: .seconds(1), pieceSize: 3)
        files["a"] = Array(0..<10)
        let status = try #require(try result(files.status(of: "a")).0.first ?? nil)
        let recorder = Recorder(files.read("a", from: 0, count: nil, expecting: status), on: clock)
        try clock.advance(by: .seconds(2))
        files["a"] = Array(10..<20)
        try clock.run()
        #expect(recorder.values == [[0, 1, 2], [3, 4, 5]])
        guard case .failed(let error) = recorder.completion else { Issue.record("not noticed"); return }
        #expect(error.code == .file)
    }

    @Test func aPausedReaderIsNotReadFor() throws {
        let files = MemoryFileSystem(on: clock, latency: .seconds(1), pieceSize: 1)
        files["a"] = Array(0..<10)
        let recorder = Recorder(files.read("a"), on: clock)
        try clock.advance(by: .seconds(3))
        recorder.pause()
        try clock.run()
        #expect(files.readCount <= 4)
        recorder.resume()
        try clock.run()
        #expect(recorder.values == (0..<10).map { [$0] })
    }

    @Test func appendsBehindTheOffset() throws {
        let files = MemoryFileSystem(on: clock)
        files["a"] = [1, 2, 3]
        let chunks = Observable<[UInt8], NetworkError>.sequence([[4], [5, 6], []])
        #expect(try result(files.append(chunks, to: "a", at: 2)).0.last == 5)
        #expect(files["a"] == [1, 2, 4, 5, 6])
        #expect(try result(files.append(.just([9]), to: "b", at: 0)).0 == [0, 1])
    }

    @Test func aFailedSourceLeavesWhatCameBefore() throws {
        let files = MemoryFileSystem(on: clock)
        let failure = NetworkError(.connectionLost, "")
        let chunks = Observable<[UInt8], NetworkError>.concat([.just([1, 2]), .fail(failure)])
        #expect(try result(files.append(chunks, to: "a", at: 0)).1?.code == .connectionLost)
        #expect(files["a"] == [1, 2])
    }

    @Test func slowWritingPausesTheSource() throws {
        let files = MemoryFileSystem(on: clock, latency: .seconds(1))
        let source = MemoryFileSystem(on: clock, pieceSize: 256 << 10)
        source["s"] = Array(repeating: 7, count: 8 << 20)
        let recorder = Recorder(files.append(source.read("s"), to: "a", at: 0), on: clock)
        try clock.advance(by: .milliseconds(2500))
        #expect(source.readCount <= 16)
        try clock.run()
        #expect(files["a"]?.count == 8 << 20)
        #expect(recorder.values.last == 8 << 20)
    }

    @Test(arguments: [
        (MemoryFileSystem.Operation.write, [UInt8]()), (.synchronize, [1]),
    ]) func failuresAreInjected(operation: MemoryFileSystem.Operation, left: [UInt8]) throws {
        let files = MemoryFileSystem(on: clock)
        files.fail(operation, of: "a", "disk full")
        let (_, error) = try result(files.append(.just([1]), to: "a", at: 0))
        #expect(error?.code == .file)
        #expect(error?.message == "a: disk full")
        #expect(files["a"] ?? [] == left)
        #expect(try result(files.append(.just([1]), to: "a", at: 0)).1 == nil)
    }

    @Test func replacesMovesAndRemoves() throws {
        let files = MemoryFileSystem(on: clock)
        #expect(try result(files.replace("a", with: [1])).1 == nil)
        #expect(try result(files.move("a", to: "b")).1 == nil)
        #expect(files.paths == ["/b"])
        #expect(try result(files.move("a", to: "b")).1?.code == .file)
        #expect(try result(files.remove("b")).1 == nil)
        #expect(try result(files.remove("b")).1 == nil)
        #expect(try result(files.status(of: "b")).0 == [nil])
        files.fail(.replace, of: "a")
        #expect(try result(files.replace("a", with: [1])).1?.code == .file)
        #expect(files.paths.isEmpty)
    }

    @Test(arguments: ["/d/f", "/d/./f", "/d//f", "/d/e/../f", "/../d/f", "d/f", "./d/f"])
    func allSpellingsNameOneFile(path: String) throws {
        let files = MemoryFileSystem(on: clock)
        files["/d/f"] = [1]
        #expect(files[path] == [1])
        for (path, place, isFolder) in [(path, "/d/f", false), (path + "/..", "/d", true)] {
            let found = try #require(try result(files.locate(path)).0.first)
            #expect(found == (place, isFolder))
        }
        #expect(try result(files.append(.just([2]), to: path, at: 1)).1 == nil)
        #expect(files.paths == ["/d/f"] && files["/d/f"] == [1, 2])
        let release = try #require(try result(files.lock(path)).0.first)
        #expect(try result(files.lock("/d/f")).1?.code == .locked)
        release()
        #expect(try result(files.lock("/d/f")).1 == nil)
        files.fail(.remove, of: path)
        #expect(try result(files.remove("/d/f")).1?.code == .file)
    }

    @Test func foldersAreThoseOfFilesAndThoseMade() throws {
        let files = MemoryFileSystem(on: clock)
        files["/d/e/f"] = []
        files.addFolder("/empty/")
        for path in ["/", "/d", "/d/e/", "/empty"] {
            #expect(try result(files.locate(path)).0.first?.isFolder == true, "\(path)")
        }
        for path in ["/d/e/f", "/e", "/none"] {
            #expect(try result(files.locate(path)).0.first?.isFolder == false, "\(path)")
        }
    }

    @Test func aCancelledOperationTakesEffectLate() throws {
        let files = MemoryFileSystem(on: clock)
        files.delay(.write, of: "/f", by: .seconds(2))
        let recorder = Recorder(files.append(.just([1]), to: "/f", at: 3), on: clock)
        try clock.advance(by: .seconds(1))
        recorder.cancel()
        try clock.advance(by: .milliseconds(999))
        #expect(files["/f"] == nil)
        try clock.advance(by: .milliseconds(1))
        #expect(files["/f"] == [0, 0, 0])
        #expect(recorder.values.isEmpty)
        // Nobody receives the lock.
        let lock = Recorder(files.lock("/f"), on: clock)
        lock.cancel()
        try clock.run()
        #expect(files.lockedPaths.isEmpty)
    }
}
