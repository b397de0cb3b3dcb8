/// Checks that bytes are UTF-8 (RFC 3629) as they arrive, in pieces of any size.
struct UTF8Check: Sendable {
    /// The continuation bytes that the current character still needs.
    private var missing: UInt8 = 0
    /// The range of the next continuation byte: the second byte of some characters has a smaller one.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Whether the bytes so far end with a complete character.
    var isComplete: Bool { missing == 0 }

    /// Whether bytes are a complete text.
    static func isText(_ bytes: RawSpan) -> Bool {
        var check = UTF8Check()
        return unsafe bytes.withUnsafeBytes { unsafe check.take($0) } && check.isComplete
    }

    /// Checks the next bytes.
    ///
    /// - Returns: `false` if no text can begin with the bytes so far.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = bytes.count
        guard let start = bytes.baseAddress else { return true }
        var index = 0
        while index < count {
            if missing == 0 {
                unsafe index = Self.endOfASCII(start, from: index, to: count)
                while index &+ 4 <= count {
                    let size = Self.size(
                        UInt32(
                            littleEndian: unsafe start.loadUnaligned(fromByteOffset: index, as: UInt32.self)))
                    guard size > 0 else { break }
                    index &+= size
                }
                guard index < count else { return true }
                let byte = unsafe start.load(fromByteOffset: index, as: UInt8.self)
                if byte < 0x80 { continue }
                guard begin(byte) else { return false }
                index &+= 1
            }
            while missing > 0, index < count {
                let byte = unsafe start.load(fromByteOffset: index, as: UInt8.self)
                guard byte >= lowest, byte <= highest else { return false }
                (lowest, highest) = (0x80, 0xBF)
                missing &-= 1
                index &+= 1
            }
        }
        return true
    }

    /// The size of a character of two to four bytes at the beginning of a word, whose lowest byte is the
    /// first; 0 if there is none.
    @inline(__always)
    private static func size(_ word: UInt32) -> Int {
        if word & 0xC0_C0F0 == 0x80_80E0 {
            // Neither a longer form of a smaller character, E0 80 to E0 9F, nor a surrogate, from ED A0 on.
            let bits = word & 0x200F
            return bits != 0 && bits != 0x200D ? 3 : 0
        }
        // Neither C0 nor C1.
        if word & 0xC0E0 == 0x80C0 { return word & 0x1E != 0 ? 2 : 0 }
        guard word & 0xC0C0_C0F8 == 0x8080_80F0 else { return 0 }
        // Neither F0 80 to F0 8F nor anything from F4 90 on.
        let bits = (word & 7) << 2 | (word & 0x3000) >> 12
        return (1...16).contains(bits) ? 4 : 0
    }

    /// The index of the first byte that is not ASCII, found 16 bytes at a time.
    private static func endOfASCII(_ start: UnsafeRawPointer, from first: Int, to count: Int) -> Int {
        let marks: UInt64 = 0x8080_8080_8080_8080
        var index = first
        while index &+ 16 <= count {
            let word = unsafe start.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let next = unsafe start.loadUnaligned(fromByteOffset: index &+ 8, as: UInt64.self)
            guard (word | next) & marks == 0 else { break }
            index &+= 16
        }
        while index < count, unsafe start.load(fromByteOffset: index, as: UInt8.self) < 0x80 { index &+= 1 }
        return index
    }

    /// Records the first byte of a character that is not ASCII.
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, lowest) = (2, 0xA0)
        case 0xE1...0xEC, 0xEE...0xEF: missing = 2
        // No surrogates.
        case 0xED: (missing, highest) = (2, 0x9F)
        case 0xF0: (missing, lowest) = (3, 0x90)
        case 0xF1...0xF3: missing = 3
        // Nothing above U+10FFFF.
        case 0xF4: (missing, highest) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
