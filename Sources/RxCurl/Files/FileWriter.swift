internal import RxLoop

/// A file that is being appended to. Its calls block, and come one after another.
final class FileWriter: @unchecked Sendable {
    // Unchecked: `Appending` begins a write when the one before has ended.
    private let path: String
    private var offset: Int64
    private var file: File?

    init(_ path: String, at offset: Int64) {
        self.path = path
        self.offset = offset
    }

    /// Writes the bytes behind what is there, and gives the size of the file then. The first call opens it.
    func write(_ bytes: [UInt8]) throws(UVError) -> Int64 {
        let file = if let file { file } else { try open() }
        try file.write(bytes, at: offset)
        offset += Int64(bytes.count)
        return offset
    }

    /// Waits until everything is on the disk, and closes the file.
    func finish() throws(UVError) {
        try file?.synchronize()
        file = nil
    }

    private func open() throws(UVError) -> File {
        let file = try File(writing: path)
        try file.truncate(to: offset)
        self.file = file
        return file
    }
}
