internal import RxLoop

/// Appends to a file. Its calls block, and run one after another.
final class FileWriter: @unchecked Sendable {
    // Unchecked: `Appending` begins a write only when the previous one has ended.
    private let path: String
    private var offset: Int64
    private var file: File?

    init(_ path: String, at offset: Int64) {
        self.path = path
        self.offset = offset
    }

    /// Appends the bytes and returns the new size of the file. The first call opens it.
    func write(_ bytes: [UInt8]) throws(UVError) -> Int64 {
        let file = if let file { file } else { try open() }
        try file.write(bytes, at: offset)
        offset += Int64(bytes.count)
        return offset
    }

    /// Waits until all bytes are on the disk, and closes the file.
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
