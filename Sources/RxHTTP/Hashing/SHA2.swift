/// A SHA-256 or SHA-512 digest (FIPS 180-4) of bytes that arrive in pieces.
package struct SHA2: Sendable {
    private enum State: Sendable {
        case short([UInt32])
        case long([UInt64])
    }

    private var state: State
    /// The bytes after the last complete block.
    private var pending: [UInt8] = []
    private var count: UInt64 = 0

    /// SHA-256.
    package static var sha256: SHA2 { SHA2(state: .short(HexDigest.initial256)) }

    /// SHA-512.
    package static var sha512: SHA2 { SHA2(state: .long(HexDigest.initial512)) }

    /// SHA-512/256, before the result is cut to its first half.
    static var sha512Half: SHA2 { SHA2(state: .long(HexDigest.initial512Half)) }

    private init(state: State) { self.state = state }

    private var blockSize: Int { if case .short = state { 64 } else { 128 } }

    /// Adds bytes.
    package mutating func update(_ bytes: some Collection<UInt8>) {
        count += UInt64(bytes.count)
        pending.append(contentsOf: bytes)
        let size = blockSize
        var start = 0
        while pending.count - start >= size {
            mix(pending[start..<(start + size)])
            start += size
        }
        pending.removeFirst(start)
    }

    /// The digest of all bytes so far.
    package consuming func finish() -> [UInt8] {
        let (size, bitCount) = (blockSize, count &* 8)
        // The count takes an eighth of a block; only its last eight bytes can be nonzero.
        let free = size - size / 8
        var padding: [UInt8] = [0x80]
        padding.append(
            contentsOf: repeatElement(0, count: (free + size - 1 - pending.count) % size + size / 8 - 8))
        padding.append(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: bitCount >> (56 - 8 * $0)) })
        update(padding)
        switch state {
        case .short(let words): return words.flatMap(\.bigEndianBytes)
        case .long(let words): return words.flatMap(\.bigEndianBytes)
        }
    }

    private mutating func mix(_ block: ArraySlice<UInt8>) {
        switch state {
        case .short(var words):
            state = .short([])
            HexDigest.mix256(block, into: &words)
            state = .short(words)
        case .long(var words):
            state = .long([])
            HexDigest.mix512(block, into: &words)
            state = .long(words)
        }
    }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] {
        (0..<(Self.bitWidth / 8)).reversed().map { UInt8(truncatingIfNeeded: self >> Self($0 * 8)) }
    }
}
