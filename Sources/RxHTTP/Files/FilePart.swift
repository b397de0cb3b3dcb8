/// Part of a file, with the status that the file had when it was inspected.
package struct FilePart: Sendable {
    /// The file system of the file.
    package let files: any FileSystem
    package let path: String
    package let offset: Int64
    package let count: Int64
    /// The status of the file when it was inspected.
    package let status: FileStatus
}
