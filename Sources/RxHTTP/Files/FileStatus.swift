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

/// The place that a path names, as renaming a file takes it: a file's folder without symbolic links, and the file's name.
///
/// Two paths with the same location are spellings of one path: `/d/f`, `/d/./f`, `/d//f`, `/d/e/../f`, `/link/f` if
/// `/link` leads to `/d`, and `f` in the folder `/d`. A symbolic link at the path itself is a place of its own, because
/// a new file replaces the link; so is a hard link.
public struct FileLocation: Sendable, Hashable {
    /// The absolute path, without symbolic links, `.`, `..` and empty components. The last component may be a symbolic
    /// link, unless that leads to a folder.
    public var path: String
    /// Whether there is a folder, or a symbolic link to one.
    public var isFolder: Bool

    /// The path of a file in the folder.
    package func appending(_ name: String) -> String { path == "/" ? path + name : path + "/" + name }

    /// Creates a location.
    public init(path: String, isFolder: Bool = false) {
        self.path = path
        self.isFolder = isFolder
    }
}
