import Foundation
import RxCurl
import RxHTTP
import RxLite
import RxLoop
import TestServers
import Testing

/// Files that belong to this user, and other files in their place.
@Suite struct TrustedFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var files: LoopFileSystem { LoopFileSystem(loop: .shared) }

    private func failure<T>(_ stream: Observable<T, NetworkError>) async -> NetworkError.Code? {
        do {
            _ = try await stream.collect().value()
            return nil
        } catch {
            return error.code
        }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// A symbolic link is neither written through, nor locked, nor read.
    @Test func links() async throws {
        let victim = try folder.file("victim", [1, 2, 3])
        for target in [victim, folder.file("nothing")] {
            let link = folder.file("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            #expect(await failure(files.append(.just([9]), to: link, at: 0)) == .untrustedFile)
            #expect(await failure(files.lock(link)) == .untrustedFile)
            #expect(await failure(files.contents(of: link, limit: 10)) == .untrustedFile)
            // A new file replaces the link.
            _ = try await files.replace(link, with: [7]).value()
            #expect(try folder.content("link") == [7])
            try FileManager.default.removeItem(atPath: link)
        }
        #expect(try folder.content("victim") == [1, 2, 3])
        #expect(try folder.names == ["victim"])
    }

    /// An existing file becomes unreadable for other users.
    @Test func modes() async throws {
        let path = try folder.file("part", [1, 2, 3])
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        _ = try await files.append(.just([4]), to: path, at: 3).collect().value()
        #expect(try mode(path) == 0o600)
        #expect(try folder.content("part") == [1, 2, 3, 4])
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
        _ = try await files.replace(path, with: [5]).value()
        #expect(try mode(path) == 0o600)
    }

    /// A file of another user is refused.
    @Test func owners() async throws {
        var path = "/etc/passwd"
        if geteuid() == 0 {
            path = try folder.file("foreign", [1])
            try #require(unsafe chown(path, 65_534, 65_534) == 0)
        }
        #expect(await failure(files.contents(of: path, limit: 1 << 20)) == .untrustedFile)
        guard geteuid() == 0 else { return }
        #expect(await failure(files.append(.just([9]), to: path, at: 0)) == .untrustedFile)
        #expect(await failure(files.lock(path)) == .untrustedFile)
        #expect(try folder.content("foreign") == [1])
    }

    /// The content of a small file, of a missing one, and of one that is too large.
    @Test func contents() async throws {
        let path = try folder.file("small", [1, 2, 3])
        #expect(try await files.contents(of: path, limit: 3).value() == [1, 2, 3])
        #expect(try await files.contents(of: path, limit: .max).value() == [1, 2, 3])
        #expect(await failure(files.contents(of: path, limit: 2)) == .tooLarge)
        #expect(try await files.contents(of: folder.file("none"), limit: 2).value() == nil)
        #expect(await failure(files.contents(of: folder.path, limit: 2)) == .file)
    }

    /// Drafts of dead processes are removed; those being written, and other files, stay.
    @Test func drafts() async throws {
        let path = folder.file("a")
        let others = [
            "a.new", "a.x_y.new", "b.0000000000abc.new", "a.0000000000abc.old", "a.0000000000abc.new.new",
            "a.backup.new", "a.old.new", "a.1.new", "a.00000000000001.new", "a.+000000000001.new",
            "a.1718000000000.new",
        ]
        for name in others + ["a.00000000000z1.new", "a.3w5e11264sgsf.new"] { _ = try folder.file(name, [1]) }
        // The writer of a draft has the lock.
        let descriptor = unsafe open(try folder.file("a.000000000busy.new", [1]), O_RDWR)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX) == 0)
        defer { close(descriptor) }
        _ = try await files.replace(path, with: [2]).value()
        #expect(try folder.names.sorted() == (others + ["a", "a.000000000busy.new"]).sorted())
        for number in 0..<20 { _ = try await files.replace(path, with: [UInt8(number)]).value() }
        #expect(try folder.content("a") == [19])
    }
}
