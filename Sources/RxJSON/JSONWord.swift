/// A word of a tape: kind in the lowest 4 bits, 28 bits of length or link, 32 bits of offset.
struct JSONWord {
    var bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    /// - Parameters:
    ///   - offset: where the value begins in the document; for a string, after the quote.
    ///   - length: the number of bytes; for a string, between the quotes; for a collection, the place after
    ///     its content.
    init(_ kind: JSONTape.Kind, offset: Int, length: Int) {
        bits =
            UInt64(kind.rawValue) | UInt64(truncatingIfNeeded: length & 0xFFF_FFFF) << 4
            | UInt64(truncatingIfNeeded: offset) << 32
    }

    /// Scanners write only valid kinds.
    var kind: JSONTape.Kind { JSONTape.Kind(rawValue: UInt8(truncatingIfNeeded: bits & 0xF)) ?? .null }
    var length: Int { Int(truncatingIfNeeded: bits >> 4 & 0xFFF_FFFF) }
    var offset: Int { Int(truncatingIfNeeded: bits >> 32) }

    var isCollection: Bool { bits & 0xF >= JSONTape.Kind.array.rawValue }
    var isObject: Bool { bits & 0xF >= JSONTape.Kind.object.rawValue }

    /// The place of the next sibling of the value at `place`.
    func next(after place: Int) -> Int { isCollection ? length : place + 1 }
}
