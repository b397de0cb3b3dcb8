import Foundation

/// A temporary folder for a recipe's files, which is removed with this object.
final class Folder: Sendable {
    /// The path of the folder.
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "shop-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Creates a file of `size` bytes and returns its path.
    func file(_ name: String, size: Int) throws -> String {
        try Data(repeating: UInt8(ascii: "t"), count: size).write(to: URL(filePath: path(of: name)))
        return path(of: name)
    }

    /// The path of a file in the folder.
    func path(of name: String) -> String { "\(path)/\(name)" }
}
