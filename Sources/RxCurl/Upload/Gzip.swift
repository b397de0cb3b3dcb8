internal import CZlib

/// A running compression to gzip (RFC 1952), by zlib. Takes its time: nothing for the loop.
@safe
final class Gzip: @unchecked Sendable {
    // Unchecked: its user begins a call when the one before has returned.
    // Safe: the stream lives from init to deinit.
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe rxzlib_deflate_init_gzip(stream)
        // The arguments are right, so that only memory can be lacking, which Swift gives up at as well.
        precondition(status == Z_OK, "zlib has no memory")
    }

    deinit {
        unsafe _ = deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// What can be said of the content so far with `bytes` behind it; mostly nothing for little.
    func compress(_ bytes: [UInt8]) -> [UInt8] { run(bytes, Z_NO_FLUSH) }

    /// The rest.
    func finish() -> [UInt8] { run([], Z_FINISH) }

    private func run(_ bytes: [UInt8], _ flush: Int32) -> [UInt8] {
        var output: [UInt8] = []
        var start = 0
        repeat {
            // zlib counts in 32 bits.
            let count = min(bytes.count - start, 1 << 30)
            let isLast = start + count == bytes.count
            unsafe bytes.withUnsafeBufferPointer { input in
                // It only reads from it.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: input.baseAddress.map { unsafe $0 + start })
                unsafe stream.pointee.avail_in = UInt32(count)
                repeat {
                    output += piece(isLast ? flush : Z_NO_FLUSH)
                } while unsafe stream.pointee.avail_out == 0
            }
            start += count
        } while start < bytes.count
        unsafe stream.pointee.next_in = nil
        return output
    }

    /// A bufferful of output.
    private func piece(_ flush: Int32) -> [UInt8] {
        let size = 32 << 10
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            unsafe stream.pointee.next_out = buffer.baseAddress
            unsafe stream.pointee.avail_out = UInt32(size)
            unsafe _ = deflate(stream, flush)
            unsafe filled = size - Int(stream.pointee.avail_out)
        }
    }
}
