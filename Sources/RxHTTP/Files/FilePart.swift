/// Part of a file, which is to be as it was when it was looked at.
package struct FilePart: Sendable {
    /// Where the file is.
    package let files: any FileSystem
    package let path: String
    package let offset: Int64
    package let count: Int64
    /// What the file was like.
    package let status: FileStatus
}
