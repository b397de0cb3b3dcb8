import FoundationEssentials

extension [UInt8] {
    /// Whether the bytes are the same; quick for many (`memcmp`), and a failure does not print them.
    func isSame(as other: [UInt8]) -> Bool { Data(self) == Data(other) }
}
