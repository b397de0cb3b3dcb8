#if Fleet
import FoundationEssentials
import RxHTTP

/// The keys and channels of a store. All of them have the name of the store as hash tag, so that they would be in one slot
/// of a cluster (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec, "Hash tags").
struct RedisKeys: Sendable {
    /// The beginning of all keys and channels.
    let prefix: String
    /// The beginning of the keys of entries.
    let entries: [UInt8]

    /// - Throws: `invalidConfiguration` for a name that is empty or longer than 64 bytes, or has braces, spaces or control
    ///   characters.
    init(_ name: String) throws(NetworkError) {
        let isName = name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x7B && $0 != 0x7D }
        guard isName, (1...64).contains(name.utf8.count) else {
            throw NetworkError(
                .invalidConfiguration,
                "the name of a store in Redis has 1 to 64 bytes, without braces, spaces and control characters"
            )
        }
        prefix = "{\(name)}:"
        entries = Array((prefix + "entry:").utf8)
    }

    /// The last version or fence.
    var clock: [UInt8] { Array((prefix + "clock").utf8) }
    /// The beginning of the channels that tell a process of the leases it is granted.
    var grants: String { prefix + "granted:" }

    // Redis.md lists the keys for operators; processes of other releases use the same.

    func entry(_ key: String) -> [UInt8] { entries + Array(key.utf8) }
    func lease(_ name: String) -> [UInt8] { Array((prefix + "lease:" + name).utf8) }
    func queue(_ name: String) -> [UInt8] { Array((prefix + "queue:" + name).utf8) }
    func budget(_ key: String) -> [UInt8] { Array((prefix + "budget:" + key).utf8) }
    func channel(_ name: String) -> String { prefix + "channel:" + name }

    // MARK: - Arguments

    /// Whole milliseconds, rounded up.
    ///
    /// - Parameter duration: at most a century, as ``StoreRules`` has it.
    static func milliseconds(_ duration: Duration) -> [UInt8] {
        Array("\(Int64((duration / .milliseconds(1)).rounded(.up)))".utf8)
    }

    /// A version or fence, as the scripts write it (`%016.0f`): ``RedisScript/swap`` compares versions as texts.
    static func number(_ number: UInt64) -> [UInt8] {
        let digits = String(number)
        return Array((String(repeating: "0", count: max(0, 16 - digits.utf8.count)) + digits).utf8)
    }

    /// The entry that a value is: 16 digits of the version, then the content, as ``RedisScript/swap`` writes it.
    static func entry(_ value: ArraySlice<UInt8>) -> Result<SharedEntry, NetworkError> {
        guard let version = version(value) else {
            return .failure(
                NetworkError(
                    .invalidResponse,
                    "a value in Redis is not an entry of this store: another program has written it"))
        }
        return .success(SharedEntry(bytes: Array(value.dropFirst(16)), version: version))
    }

    /// The number that 16 digits are.
    private static func version(_ value: ArraySlice<UInt8>) -> UInt64? {
        guard value.count >= 16 else { return nil }
        var version: UInt64 = 0
        for byte in value.prefix(16) {
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            version = version * 10 + UInt64(digit)
        }
        return version
    }
}
#endif
