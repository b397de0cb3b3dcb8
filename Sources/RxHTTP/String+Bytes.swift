extension String {
    /// Whether all bytes of the UTF-8 text fulfil a condition. Takes a fraction of the time of a loop over
    /// `utf8`.
    @inlinable
    package func allBytes(_ condition: (UInt8) -> Bool) -> Bool {
        unsafe utf8.withContiguousStorageIfAvailable { bytes in unsafe bytes.allSatisfy(condition) }
            ?? utf8.allSatisfy(condition)
    }
}
