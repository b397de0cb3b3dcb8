/// The value of a `Content-Range` field (RFC 9110 §14.4): `bytes 10-19/100`, `bytes 10-19/*`, `bytes */100`.
struct ContentRange: Equatable {
    /// The range of bytes in the response; `nil` if the range is unsatisfiable.
    let bytes: ClosedRange<Int64>?
    /// The total number of bytes; `nil` if the server does not know it.
    let total: Int64?

    /// Returns `nil` for an invalid or contradictory value.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[1] == "*" {
            total = nil
        } else {
            guard let number = Self.number(parts[1]) else { return nil }
            total = number
        }
        if parts[0] == "*" {
            guard total != nil else { return nil }
            bytes = nil
        } else {
            let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
                first <= last, last < total ?? .max
            else { return nil }
            bytes = first...last
        }
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
