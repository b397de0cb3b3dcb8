import Foundation
import NIOCore

/// The contents of a file in chunks of 128 KiB.
struct FileChunks: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let path: String

    var size: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }

    var count: Int64 { Int64(size) }

    func makeAsyncIterator() -> Iterator { Iterator(handle: FileHandle(forReadingAtPath: path)) }

    struct Iterator: AsyncIteratorProtocol {
        let handle: FileHandle?

        mutating func next() async throws -> ByteBuffer? {
            guard let descriptor = handle?.fileDescriptor else { throw CocoaError(.fileReadNoSuchFile) }
            var buffer = ByteBuffer()
            let count = try unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 128 << 10) {
                bytes in
                let count = unsafe read(descriptor, bytes.baseAddress, 128 << 10)
                guard count >= 0 else { throw CocoaError(.fileReadUnknown) }
                return count
            }
            return count == 0 ? nil : buffer
        }
    }
}
