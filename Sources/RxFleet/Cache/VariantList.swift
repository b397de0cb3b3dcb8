#if Fleet
import RxCache
import RxHTTP

/// The stored form of all variants of a key: one entry of the store, so that a lookup is one command. Each variant has a
/// checksum or a seal of its own, so that a broken one does not take the others with it.
struct VariantList: Sendable {
    private static let magic = Array("RXV".utf8)
    /// The version of the list; each variant has its own, see ``StoredResponse``.
    private static let version: UInt8 = 1
    /// A key with more variants keeps the latest. A list with more counts as corrupt, also in processes of other
    /// releases.
    static let maxVariants = 16

    /// The bytes of each variant, the latest first.
    var variants: [[UInt8]] = []

    init() {}

    /// Reads a list. Fails with `corruptEntry` or `laterFormat`.
    init(_ bytes: [UInt8], at entryName: String) throws(NetworkError) {
        guard bytes.count >= 4, bytes.starts(with: Self.magic) else {
            throw NetworkError(.corruptEntry, "the entry \(entryName) is not a list of responses")
        }
        guard bytes[3] <= Self.version else {
            throw NetworkError(.laterFormat, "the entry \(entryName) has the format \(bytes[3])")
        }
        var rest = bytes[4...]
        while !rest.isEmpty {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 4 + length, variants.count < Self.maxVariants else {
                throw NetworkError(.corruptEntry, "the entry \(entryName) is cut off")
            }
            variants.append(Array(rest.dropFirst(4).prefix(length)))
            rest = rest.dropFirst(4 + length)
        }
    }

    /// The form that ``init(_:at:)`` reads, also in other releases: another layout needs another version.
    var bytes: [UInt8] {
        var bytes = Self.magic + [Self.version]
        bytes.reserveCapacity(4 + variants.reduce(0) { $0 + 4 + $1.count })
        for variant in variants {
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: variant.count >> shift)) }
            bytes += variant
        }
        return bytes
    }

    /// Drops the oldest variants until the list has at most that many bytes.
    mutating func limit(to most: Int) {
        if variants.count > Self.maxVariants { variants.removeLast(variants.count - Self.maxVariants) }
        while variants.count > 1, bytes.count > most { variants.removeLast() }
    }
}
#endif
