internal import CLibuv

extension File {
    /// Reads the bytes from `offset` that the system has in memory, and never waits for a disk (`preadv2`
    /// with `RWF_NOWAIT`). Unlike the other calls it may be made on a loop.
    ///
    /// A file on tmpfs counts as in memory: the read waits for swapped-out pages, as with any other memory of
    /// the process.
    ///
    /// - Returns: the number of bytes, possibly fewer than fit; 0 at the end of the file; `nil` if the read
    ///   would have to wait, or if that is unknown, as on most network file systems and all systems except
    ///   Linux. It is also `nil` on an error, which ``read(at:count:)`` reports.
    public func readCached(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        if isInMemory {
            return try? unsafe transfer(buffer) { request, piece in
                unsafe uv_fs_read(nil, request, descriptor, piece, 1, offset, nil)
            }
        }
        let got = unsafe rxuv_read_cached(descriptor, buffer.baseAddress, buffer.count, offset)
        return got < 0 ? nil : got
    }
    /// Whether the byte at `offset` can be read without waiting.
    public func isCached(at offset: Int64) -> Bool {
        var byte: UInt8 = 0
        return unsafe withUnsafeMutableBytes(of: &byte) { unsafe readCached(at: offset, into: $0) } == 1
    }
}
