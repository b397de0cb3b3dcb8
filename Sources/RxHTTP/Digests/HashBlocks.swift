/// Splits bytes that arrive in pieces into blocks of one size, for a hash.
struct HashBlocks: Sendable {
    private let size: Int
    /// The bytes after the last complete block.
    private var pending: [UInt8] = []
    /// The number of all bytes so far.
    private(set) var count: UInt64 = 0

    init(of size: Int) { self.size = size }

    /// Adds bytes, and passes whole blocks on, where they are: nothing but the ends of the pieces is copied.
    mutating func add(_ bytes: some Collection<UInt8>, _ mix: (UnsafeRawBufferPointer) -> Void) {
        let done: Void? = bytes.withContiguousStorageIfAvailable { buffer in
            unsafe add(raw: UnsafeRawBufferPointer(buffer), mix)
        }
        guard done == nil else { return }
        unsafe Array(bytes).withUnsafeBytes { bytes in unsafe add(raw: bytes, mix) }
    }

    private mutating func add(raw bytes: UnsafeRawBufferPointer, _ mix: (UnsafeRawBufferPointer) -> Void) {
        // Guard: all slices are within `bytes`, which the callers keep until this returns.
        count &+= UInt64(bytes.count)
        var rest = unsafe bytes[...]
        if !pending.isEmpty {
            let missing = unsafe min(size - pending.count, rest.count)
            unsafe pending.append(contentsOf: rest.prefix(missing))
            unsafe rest = rest.dropFirst(missing)
            guard pending.count == size else { return }
            unsafe pending.withUnsafeBytes { block in unsafe mix(block) }
            pending.removeAll(keepingCapacity: true)
        }
        let whole = unsafe rest.count / size * size
        if whole > 0 { unsafe mix(UnsafeRawBufferPointer(rebasing: rest.prefix(whole))) }
        unsafe pending.append(contentsOf: rest.dropFirst(whole))
    }

    /// The bytes that complete the last block: a bit, zeros, and the number of bits in an eighth of a block, of which only
    /// the last eight bytes can be nonzero.
    func padding(isBigEndian: Bool = true) -> [UInt8] {
        let bitCount = isBigEndian ? (count &* 8).bigEndian : (count &* 8).littleEndian
        let free = size - size / 8
        let zeros = (free + size - 1 - pending.count) % size + size / 8 - 8
        return [0x80] + [UInt8](repeating: 0, count: zeros)
            + (0..<8).map { UInt8(truncatingIfNeeded: bitCount.littleEndian >> (8 * $0)) }
    }
}

extension FixedWidthInteger {
    /// The bytes, the most significant first. RxWebSocket, which imports nothing, has the same in HandshakeHash.swift.
    var bigEndianBytes: [UInt8] {
        (0..<(Self.bitWidth / 8)).reversed().map { UInt8(truncatingIfNeeded: self >> Self($0 * 8)) }
    }

    /// The bits moved to the left, and those that fall out back in from the right.
    @inline(__always)
    func rotatedLeft(_ count: Self) -> Self { self &<< count | self &>> (Self(Self.bitWidth) &- count) }

    /// The bits moved to the right, and those that fall out back in from the left.
    @inline(__always)
    func rotatedRight(_ count: Self) -> Self { self &>> count | self &<< (Self(Self.bitWidth) &- count) }
}
