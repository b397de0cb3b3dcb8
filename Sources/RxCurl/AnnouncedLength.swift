#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The `Content-Length` of a response. libcurl uses the last of several, reads `2abc` as 2 and ignores a
/// number of more than 63 bits; but a response of uncertain length must be refused (RFC 9112 §6.3).
struct AnnouncedLength {
    private(set) var value: Int?

    /// Checks a field line; false if it is an invalid length or contradicts the one before. A list of equal
    /// numbers counts as one number.
    mutating func admit(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let start = unsafe Self.startOfValue(line) else { return true }
        var number: Int?
        var isComplete = false
        for index in start..<line.count {
            let byte = unsafe line[index]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                let (shifted, isTooLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
                let (sum, overflows) = shifted.addingReportingOverflow(Int(byte - UInt8(ascii: "0")))
                guard !isComplete, !isTooLarge, !overflows else { return false }
                number = sum
            case UInt8(ascii: ","):
                guard admit(number) else { return false }
                number = nil
                isComplete = false
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                isComplete = number != nil
            default: return false
            }
        }
        return admit(number)
    }

    private mutating func admit(_ number: Int?) -> Bool {
        guard let number, value == nil || value == number else { return false }
        value = number
        return true
    }

    /// The index where the value begins, if the line is a `Content-Length`.
    private static func startOfValue(_ line: UnsafeRawBufferPointer) -> Int? {
        let name = "content-length:"
        let count = name.utf8.count
        guard line.count >= count, let first = unsafe line.first, first | 0x20 == UInt8(ascii: "c"),
            let start = unsafe line.assumingMemoryBound(to: CChar.self).baseAddress,
            unsafe strncasecmp(start, name, count) == 0
        else { return nil }
        return count
    }
}
