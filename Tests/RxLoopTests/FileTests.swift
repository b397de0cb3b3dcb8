import Foundation
import RxLoop
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct FileTests {
    @Test func whatIsWrittenIsRead() throws {
        try withDirectory { directory in
            let path = directory + "/file"
            let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let written = try File(writing: path, isNew: true)
            try written.write(bytes, at: 0)
            try written.write([1, 2, 3], at: 99_999)
            try written.synchronize()
            let read = try File(reading: path)
            #expect(try read.status().size == 100_002)
            #expect(try read.read(at: 0, count: 99_999) == bytes.dropLast())
            #expect(try read.read(at: 99_998, count: 100) == [bytes[99_998], 1, 2, 3])
            #expect(try read.read(at: 200_000, count: 100).isEmpty)
            try written.truncate(to: 5)
            #expect(try File.status(of: path).size == 5)
            #expect(try mode(of: path) == 0o600)
        }
    }

    #if os(Linux)
    @Test(arguments: ["/dev/shm", "/tmp"].filter(Self.canWrite))
    func whatIsInMemoryIsReadWithoutWaiting(parent: String) throws {
        try withDirectory(in: parent) { directory in
            let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try File(writing: directory + "/file", isNew: true).write(bytes, at: 0)
            let file = try File(reading: directory + "/file")
            // Some file systems on disks cannot tell.
            guard file.isInMemory || file.isCached(at: 0) else { return }
            #expect(file.isInMemory || parent != "/dev/shm")
            for (offset, count) in [(0, 65_536), (65_536, 34_464), (100_000, 0), (200_000, 0)] {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let got = unsafe buffer.withUnsafeMutableBytes {
                    unsafe file.readCached(at: Int64(offset), into: $0)
                }
                #expect(got == count)
                #expect(buffer.prefix(count).elementsEqual(bytes.dropFirst(offset).prefix(count)))
                #expect(file.isCached(at: Int64(offset)) == (count > 0))
            }
        }
    }

    private static func canWrite(in directory: String) -> Bool { unsafe access(directory, W_OK) == 0 }

    /// A file system on a disk drops the pages on request; one in memory keeps them.
    @Test func whatIsNotInMemoryIsNotWaitedFor() throws {
        try withDirectory { directory in
            let bytes = [UInt8](repeating: 7, count: 1 << 20)
            let written = try File(writing: directory + "/file", isNew: true)
            try written.write(bytes, at: 0)
            try written.synchronize()
            let descriptor = unsafe open(directory + "/file", O_RDONLY)
            defer { close(descriptor) }
            posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            let file = try File(reading: directory + "/file")
            let got = unsafe buffer.withUnsafeMutableBytes {
                unsafe file.readCached(at: 0, into: $0)
            }
            #expect(buffer.prefix(got ?? 0).allSatisfy { $0 == 7 })
            #expect(try file.read(at: 0, count: 1 << 20) == bytes)
        }
    }
    #endif

    @Test func aFileMovesOverAnother() throws {
        try withDirectory { directory in
            try File(writing: directory + "/a").write([1], at: 0)
            try File(writing: directory + "/b").write([2, 2], at: 0)
            try File.rename(directory + "/a", to: directory + "/b")
            #expect(try File(reading: directory + "/b").read(at: 0, count: 9) == [1])
            #expect(throws: UVError.notFound) { try File.status(of: directory + "/a") }
            try File.remove(directory + "/b")
            #expect(throws: UVError.notFound) { try File.remove(directory + "/b") }
        }
    }

    @Test func aFileMovesToANewPathOnly() throws {
        try withDirectory { directory in
            try File(writing: directory + "/a").write([1], at: 0)
            try File(writing: directory + "/b").write([2, 2], at: 0)
            try FileManager.default.createDirectory(
                atPath: directory + "/folder", withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/link", withDestinationPath: "/nowhere")
            for name in ["/b", "/folder", "/link", "/a"] {
                #expect(throws: UVError.alreadyExists, "\(name)") {
                    try File.rename(directory + "/a", toNew: directory + name)
                }
            }
            #expect(try File(reading: directory + "/b").read(at: 0, count: 9) == [2, 2])
            try File.rename(directory + "/a", toNew: directory + "/c")
            #expect(try File(reading: directory + "/c").read(at: 0, count: 9) == [1])
            #expect(throws: UVError.notFound) { try File.rename(directory + "/a", toNew: directory + "/d") }
            #expect(throws: UVError.notFound) { try File.status(of: directory + "/d") }
        }
    }

    /// For the system, another open file description counts as another process.
    @Test func aLockKeepsOthersAway() throws {
        try withDirectory { directory in
            let path = directory + "/file"
            func tryToLock() -> Int32 {
                let other = unsafe open(path, O_RDWR)
                defer { close(other) }
                return flock(other, LOCK_EX | LOCK_NB)
            }
            let lock = try FileLock(path)
            #expect(try mode(of: path) == 0o600)
            #expect(tryToLock() == -1)
            try File(writing: path).write([1], at: 0)
            lock.release()
            lock.release()
            #expect(tryToLock() == 0)
            #expect(try File.status(of: path).size == 1)

            let other = unsafe open(path, O_RDWR)
            #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
            #expect(throws: UVError.tryAgain) { try FileLock(path) }
            close(other)
            _ = try FileLock(path)
            #expect(tryToLock() == 0)
        }
    }

    /// Whatever the names by which they know the file.
    @Test func aLockKeepsOthersOfTheProcessAway() throws {
        try withDirectory { directory in
            let path = directory + "/file"
            let lock = try FileLock(path)
            try FileManager.default.linkItem(atPath: path, toPath: directory + "/other")
            for name in ["/file", "/./file", "//file", "/other"] {
                #expect(throws: UVError.tryAgain) { try FileLock(directory + name) }
            }
            lock.release()
            try FileLock(directory + "/other").release()
        }
    }

    @Test func aPlaceHasManyPaths() throws {
        try withDirectory { directory in
            let base = try File.location(of: directory).path
            try FileManager.default.createDirectory(
                atPath: directory + "/folder", withIntermediateDirectories: false)
            try File(writing: directory + "/file").write([1], at: 0)
            for (link, target) in [
                ("link", directory), ("dangling", "/nowhere"), ("alias", directory + "/file"),
            ] {
                try FileManager.default.createSymbolicLink(
                    atPath: directory + "/" + link, withDestinationPath: target)
            }
            let cases: [(path: String, place: String, isFolder: Bool)] = [
                ("/file", "/file", false), ("/./file", "/file", false), ("//file", "/file", false),
                ("/folder/../file", "/file", false), ("/link/file", "/file", false),
                ("/link/new", "/new", false), ("/dangling", "/dangling", false), ("/alias", "/alias", false),
                ("/folder", "/folder", true), ("/link/folder/", "/folder", true),
                ("/folder/..", "", true), ("/link", "", true),
                // One `Character` with the slash.
                ("/link/\u{301}", "/\u{301}", false), ("/link/folder/\u{301}a", "/folder/\u{301}a", false),
            ]
            for (path, place, isFolder) in cases {
                let found = try File.location(of: directory + path)
                #expect(found.path == base + place, "\(path)")
                #expect(found.isFolder == isFolder, "\(path)")
            }
            for path in ["/none/file", "/new/", "/none/.."] {
                #expect(throws: UVError.notFound, "\(path)") { try File.location(of: directory + path) }
            }
            #expect(throws: UVError.notFound) { try File.location(of: "") }
            #expect(throws: UVError.invalidArgument) { try File.location(of: "a\0b") }
            #expect(throws: UVError.self) { try File.location(of: directory + "/file/x") }
            #expect(try File.location(of: "/").path == "/")
            #expect(try File.location(of: "/new-file-of-the-root").path == "/new-file-of-the-root")
        }
    }

    /// A process that is being forked has a copy of every descriptor until its exec.
    @Test func aLockIsFreeOnceReleasedWhoeverElseHasTheFile() throws {
        func identity(_ descriptor: CInt) -> [UInt64]? {
            var found = stat()
            guard unsafe fstat(descriptor, &found) == 0 else { return nil }
            return [UInt64(truncatingIfNeeded: found.st_dev), UInt64(truncatingIfNeeded: found.st_ino)]
        }
        try withDirectory { directory in
            let path = directory + "/file"
            let lock = try FileLock(path)
            let file = unsafe open(path, O_RDWR)
            defer { close(file) }
            // An empty file would be removed together with its lock.
            #expect(unsafe write(file, "a", 1) == 1)
            let locked = try #require(
                (0..<CInt(1024)).first { $0 != file && identity($0) == identity(file) })
            let copy = dup(locked)
            defer { close(copy) }
            lock.release()
            try FileLock(path).release()
        }
    }

    @Test func aLockIsOfTheFileThatIsAtThePath() throws {
        try withDirectory { directory in
            let path = directory + "/file"
            let first = try FileLock(path)
            try File(writing: path).write([1], at: 0)
            try File.rename(path, to: directory + "/moved")
            let second = try FileLock(path)
            first.release()
            #expect(try File.status(of: directory + "/moved").size == 1)
            #expect(try File.status(of: path).size == 0)
            second.release()
            #expect(throws: UVError.notFound) { try File.status(of: path) }
            #expect(throws: UVError.notFound) { try FileLock(directory + "/none/file") }
        }
    }

    @Test func aFileThatIsThereIsNotNew() throws {
        try withDirectory { directory in
            _ = try File(writing: directory + "/a")
            #expect(throws: UVError.alreadyExists) { try File(writing: directory + "/a", isNew: true) }
        }
    }

    @Test func onlyRegularFilesAreOpened() throws {
        try withDirectory { directory in
            try #require(unsafe mkfifo(directory + "/pipe", 0o600) == 0)
            #expect(throws: UVError.invalidArgument) { try File(reading: directory) }
            // Neither waits for the other end.
            #expect(throws: UVError.invalidArgument) { try File(reading: directory + "/pipe") }
            #expect(throws: UVError.self) { try File(writing: directory + "/pipe") }
        }
    }

    /// The system would take the part before NUL for the path.
    @Test func aPathWithANULIsRefused() throws {
        try withDirectory { directory in
            _ = try File(writing: directory + "/a")
            for call in [
                { try _ = File(reading: directory + "/a\0b") },
                { try _ = File.status(of: directory + "/a\0b") },
                { try File.remove(directory + "/a\0b") },
                { try File.rename(directory + "/a", to: directory + "/c\0d") },
            ] as [() throws -> Void] {
                #expect(throws: UVError.invalidArgument) { try call() }
            }
        }
    }

    @Test func filesAreClosedWhenLetGoOf() throws {
        try withDirectory { directory in
            let path = directory + "/a"
            _ = try File(writing: path)
            let before = try openDescriptors()
            for _ in 0..<100 {
                _ = try File(reading: path).status()
                #expect(throws: UVError.self) { try File(reading: directory) }
            }
            #expect(try openDescriptors() <= before + 8)
        }
    }

    private func openDescriptors() throws -> Int {
        (0..<4096).count { fcntl($0, F_GETFD) >= 0 }
    }

    private func mode(of path: String) throws -> mode_t {
        var found = stat()
        try #require(unsafe stat(path, &found) == 0)
        return found.st_mode & 0o777
    }
}

/// Runs `body` with an empty directory, which is removed afterwards with the plain files in it.
private func withDirectory(in parent: String = "/tmp", _ body: (String) throws -> Void) throws {
    var template = Array("\(parent)/rxloop.XXXXXX".utf8CString)
    let path = try #require(
        unsafe template.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let start = buffer.baseAddress, let made = unsafe mkdtemp(start) else { return nil }
            return unsafe String(cString: made)
        })
    defer {
        for name in ["file", "a", "b", "pipe"] { unsafe _ = unlink(path + "/" + name) }
        unsafe _ = rmdir(path)
    }
    try body(path)
}
