import Foundation
import RxCurl
import RxLoop

/// A directory of its own, removed when it is let go of.
final class Directory: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "/rxcurl." + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    func file(_ name: String) -> String { path + "/" + name }

    /// Makes a file and gives its path.
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// What is in a file.
    func content(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: file(name))))
    }

    /// The names of what is in it, sorted.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }
}

/// Gives `body` files on a loop of their own and ends the loop afterwards, which stops the process unless
/// everything on it has been closed.
func withFiles<Result>(_ body: (LoopFileSystem, Directory) async throws -> Result) async throws -> Result {
    let loop = EventLoop(name: "files")
    defer { loop.shutDown() }
    return try await body(LoopFileSystem(loop: loop), Directory())
}
