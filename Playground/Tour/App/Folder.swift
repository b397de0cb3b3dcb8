import Foundation

/// A folder for a recipe's files, which goes with it.
final class Folder: Sendable {
    /// Where it is.
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "shop-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Makes a file of so many bytes and tells its path.
    func file(_ name: String, size: Int) throws -> String {
        try Data(repeating: UInt8(ascii: "t"), count: size).write(to: URL(filePath: path(of: name)))
        return path(of: name)
    }

    /// The path of a file in it.
    func path(of name: String) -> String { "\(path)/\(name)" }
}
