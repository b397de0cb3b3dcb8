/// The metadata of a file.
public struct FileStatus: Sendable, Equatable {
    /// The size in bytes.
    public var size: Int64
    /// The time of the last change to the content, since 1970.
    public var modified: Duration

    /// Creates a status.
    public init(size: Int64, modified: Duration = .zero) {
        self.size = size
        self.modified = modified
    }
}
