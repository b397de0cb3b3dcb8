import Foundation

/// A directory of its own, removed when it is let go of.
public final class Directory: Sendable {
    /// Where it is.
    public let path: String

    /// Makes it.
    public init() throws {
        path = NSTemporaryDirectory() + "/rxnetworking." + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Makes a file and gives its path.
    public func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// What is in a file.
    public func content(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: file(name))))
    }

    /// The names of what is in it, sorted.
    public var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }
}
