public import FoundationEssentials

/// Recorded exchanges, in a file in the HTTP Archive format 1.2.
///
/// ```swift
/// let cassette = try Cassette(contentsOf: "Tests/ShopTests/Cassettes/login.har")
/// let clock = VirtualScheduler(startingAt: cassette.startedAt)
/// let client = Client(
///     configuration: ClientConfiguration(baseURL: "https://shop.test"),
///     transport: ReplayTransport(cassette, on: clock))
/// ```
///
/// ``RecordingTransport`` makes one and ``ReplayTransport`` answers from it. Members that the format lacks have names
/// with an underscore, which the format allows: the bounds and times of chunks, informational responses, trailers, the
/// end or the failure, and the messages of WebSockets and event streams. Archives of browsers and proxies can be read,
/// too; without these members a body arrives in one chunk.
public struct Cassette: Sendable {
    /// The exchanges, in the order in which they began.
    public var exchanges: [Exchange]
    /// The file that the cassette was read from; `nil` if it was not read from one.
    public internal(set) var file: String?

    /// Creates a cassette.
    public init(_ exchanges: [Exchange] = []) { self.exchanges = exchanges }

    /// When the first exchange began; 1970 without exchanges. As the origin of a ``VirtualScheduler`` it makes the
    /// dates of the responses fit the clock.
    public var startedAt: Date { exchanges.first?.startedAt ?? Date(timeIntervalSince1970: 0) }

    /// The largest file that is read by default: 128 MiB.
    public static let sizeLimit = 128 << 20

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - limit: the maximum size in bytes, at most 256 MiB; a larger file is not read. Default ``sizeLimit``.
    /// - Throws: a ``FixtureError`` that names the place in the file.
    public init(contentsOf path: String, limit: Int = Cassette.sizeLimit) throws(FixtureError) {
        try self.init(bytes: FixtureDocument.bytes(of: path, limit: limit), file: path)
    }

    /// Reads a file if there is one; otherwise the cassette is empty.
    init(ifExists path: String) throws(FixtureError) {
        if FileManager.default.fileExists(atPath: path) {
            try self.init(contentsOf: path)
        } else {
            self.init()
        }
    }

    /// Reads the content of a file.
    ///
    /// - Parameters:
    ///   - bytes: the JSON text, in UTF-8.
    ///   - file: the name of the file for errors. Default none.
    /// - Throws: a ``FixtureError`` that names the place in the text.
    public init(bytes: [UInt8], file: String? = nil) throws(FixtureError) {
        exchanges = try CassetteReader(bytes, file: file).exchanges()
        self.file = file
    }

    /// The content of the file: JSON, in UTF-8. The same exchanges give the same bytes.
    public var encoded: [UInt8] { CassetteWriter.document(of: exchanges) }

    /// Writes the file atomically: a reader, or a process that is interrupted, leaves the former file or the whole new
    /// one. Folders that do not exist are created.
    ///
    /// - Throws: ``FixtureError/Problem/unwritable(_:)``, or ``FixtureError/Problem/tooLarge(bytes:limit:)`` if the file
    ///   would be larger than ``sizeLimit``, and so could not be read.
    public func write(to path: String) throws(FixtureError) { try write(to: path, limit: Self.sizeLimit) }

    func write(to path: String, limit: Int) throws(FixtureError) {
        let bytes = encoded
        guard bytes.count <= limit else {
            throw FixtureError(.tooLarge(bytes: bytes.count, limit: limit), file: path)
        }
        do {
            let url = URL(filePath: path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: url, options: .atomic)
        } catch {
            throw FixtureError(.unwritable("\(error)"), file: path)
        }
    }
}
