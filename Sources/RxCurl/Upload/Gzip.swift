import CZlib
import RxHTTP
import RxLite
import RxLoop

extension EventLoop {
    /// The bytes, compressed on a thread of the loop's pool.
    func gzip(_ bytes: [UInt8]) -> Observable<[UInt8], NetworkError> {
        compressing { () throws(UVError) in
            let gzip = Gzip()
            return gzip.compress(bytes) + gzip.finish()
        }
    }

    /// The chunks, compressed one after another on a thread of the loop's pool.
    func gzip(_ chunks: Observable<[UInt8], NetworkError>) -> Observable<[UInt8], NetworkError> {
        .deferred { () throws(NetworkError) in
            let gzip = Gzip()
            let pieces = chunks.flatMap(.concat) { chunk in
                self.compressing { () throws(UVError) in gzip.compress(chunk) }
            }
            return .concat([pieces, self.compressing { () throws(UVError) in gzip.finish() }])
        }
    }

    private func compressing(
        _ body: @escaping @Sendable () throws(UVError) -> [UInt8]
    ) -> Observable<[UInt8], NetworkError> {
        work(body).mapError { _ in NetworkError(.shutDown, "the event loop has been shut down") }
    }
}

/// A running compression to gzip (RFC 1952) with zlib, the coding that ``HeaderList/Extras`` announces. Too slow for
/// the loop's thread.
@safe
final class Gzip: @unchecked Sendable {
    // Unchecked: the caller begins a call only when the previous one has returned.
    // Safe: the stream lives from init to deinit.
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe rxzlib_deflate_init_gzip(stream)
        // The arguments are valid, so only memory can be lacking; Swift traps in that case too.
        precondition(status == Z_OK, "zlib could not allocate memory")
    }

    deinit {
        unsafe _ = deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses `bytes` and returns the output that is available so far; often empty for small inputs.
    func compress(_ bytes: [UInt8]) -> [UInt8] { run(bytes, Z_NO_FLUSH) }

    /// Returns the rest of the output.
    func finish() -> [UInt8] { run([], Z_FINISH) }

    private func run(_ bytes: [UInt8], _ flush: Int32) -> [UInt8] {
        var output: [UInt8] = []
        var start = 0
        repeat {
            // zlib counts in 32 bits.
            let count = min(bytes.count - start, 1 << 30)
            let isLast = start + count == bytes.count
            unsafe bytes.withUnsafeBufferPointer { input in
                // zlib only reads the input.
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

    /// The output of one call of zlib, at most a full buffer.
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
