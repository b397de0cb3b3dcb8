/// What the connections of one loop share that have changed, or are about to change, to another protocol.
@safe
struct UpgradedConnections: ~Copyable {
    // Safe: the buffer lives as long as this value.

    /// The number of these connections, which the limits of curl must not include.
    var count = 0
    private var buffer: UnsafeMutableRawBufferPointer?

    /// The size of reads, in bytes.
    private static let size = 64 << 10

    /// The buffer into which all these connections are read, one after another.
    mutating func readBuffer() -> UnsafeMutableRawBufferPointer {
        if let buffer = unsafe buffer { return unsafe buffer }
        let made = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.size, alignment: 16)
        unsafe buffer = unsafe made
        return unsafe made
    }

    deinit { unsafe buffer?.deallocate() }
}
