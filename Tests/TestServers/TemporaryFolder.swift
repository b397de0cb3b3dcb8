import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A folder of one's own, which goes with its last reference; at the latest with the process, whichever way that
/// ends.
public final class TemporaryFolder: Sendable {
    /// Holds all of them. A script removes it when the process has ended.
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

    /// Where it is, with no slash at the end.
    public let path: String

    /// Makes an empty one, which only this user can enter.
    public init() throws {
        path = try Self.root.get().path + "/" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        // What cannot be removed now goes with the root.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in it.
    public func file(_ name: String) -> String { path + "/" + name }

    /// Makes a file and gives its path.
    public func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(filePath: file(name)))
        return file(name)
    }

    /// What is in a file.
    public func content(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: file(name))))
    }

    /// The names of what is in it, sorted.
    public var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    /// Makes a folder with a name that nobody else has.
    static func make(_ prefix: String) throws(SystemError) -> String {
        let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError("mkdtemp") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
