#if DiskCache
import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxTesting

/// Entries whose bodies can be verified.
enum SampleEntry {
    /// The number of keys.
    static let keyCount = 40

    /// A key by its number.
    static func key(_ number: Int) -> CacheKey {
        CacheKey(
            rules: .http, method: number % 5 == 4 ? "POST" : "GET", url: "http://h/\(number)",
            identity: "anna")
    }

    /// An entry; `number` tells the entries of a key apart.
    static func make(key: Int, number: Int, size: Int) -> CacheEntry {
        let metadata = CacheEntry.Metadata(
            key: Self.key(key),
            head: ResponseHead(status: .ok, headerFields: [.eTag: "\"\(key)-\(number)\""]),
            freshness: CacheFreshness(date: Date(timeIntervalSince1970: Double(number)), lifetime: 60),
            tags: key.isMultiple(of: 2) ? ["even"] : [])
        return CacheEntry(metadata, body: body(key: key, number: number, size: size))
    }

    /// The number of an entry.
    static func number(of entry: CacheEntry) -> Int {
        Int(entry.metadata.freshness.date.timeIntervalSince1970)
    }

    /// Whether an entry is unchanged, judged by its own content.
    static func isWhole(_ entry: CacheEntry) -> Bool {
        guard let key = (0..<keyCount).first(where: { Self.key($0) == entry.metadata.key }) else {
            return false
        }
        let number = number(of: entry)
        return entry.metadata.head[.eTag] == "\"\(key)-\(number)\""
            && entry.body == body(key: key, number: number, size: entry.body.count - 8)
            && entry.body.suffix(8).elementsEqual(sizeBytes(entry.body.count - 8))
    }

    private static func body(key: Int, number: Int, size: Int) -> [UInt8] {
        guard size >= 0 else { return [] }
        var random = SeededRandom(UInt64(key) << 32 | UInt64(number))
        var body: [UInt8] = []
        body.reserveCapacity(size + 16)
        while body.count < size {
            let word = random.next()
            for shift in 0..<8 { body.append(UInt8(truncatingIfNeeded: word >> UInt64(shift * 8))) }
        }
        return body.prefix(size) + sizeBytes(size)
    }

    private static func sizeBytes(_ size: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) }
    }
}
#endif
