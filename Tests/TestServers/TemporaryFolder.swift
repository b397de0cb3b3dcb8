import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A temporary folder that is removed with its last reference; at the latest with the process, however that
/// ends.
public final class TemporaryFolder: Sendable {
    /// The parent of all temporary folders. A script removes it when the process has ended.
    private struct Root: Sendable {
        let path: String
        let removal: SupervisedProcess

        init() throws {
            path = try TemporaryFolder.make("rxnetworking")
            removal = try SupervisedProcess(
                script: #"read -r _; rm -rf "$FOLDER""#,
                environment: ["FOLDER": path, "PATH": "/usr/bin:/bin"], descriptors: [])
        }
    }

    private static let root = Result { try Root() }

    /// The path, without a trailing slash.
    public let path: String

    /// Creates an empty folder with access for this user only.
    public init() throws {
        path = try Self.root.get().path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        // If the folder cannot be removed now, it is removed with the root.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the folder.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Creates a file and returns its path.
    public func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(filePath: file(name)))
        return file(name)
    }

    /// The contents of a file.
    public func content(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: file(name))))
    }

    /// The names of the folder's entries, sorted.
    public var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    /// Creates a folder with a unique name.
    static func make(_ prefix: String) throws(SystemError) -> String {
        let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError("mkdtemp") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
