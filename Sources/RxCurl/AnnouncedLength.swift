#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The `Content-Length` of a response. libcurl uses the last of several, reads `2abc` as 2 and ignores a
/// number of more than 63 bits; but a response of uncertain length must be refused (RFC 9112 §6.3).
struct AnnouncedLength {
    private(set) var value: Int?
    /// Whether the last line determines the length of the body.
    private var isFraming = false

    /// Checks a field line; false if it is an invalid length or contradicts the one before. A list of equal
    /// numbers counts as one number. libcurl does not join folded lines, so a fold in one of the lines that
    /// determine the length is refused, too (RFC 9112 §5.2).
    mutating func admit(_ line: UnsafeRawBufferPointer) -> Bool {
        if isFraming, let first = unsafe line.first, first == 0x20 || first == 0x09 { return false }
        isFraming = unsafe Self.begins(line, with: "transfer-encoding:")
        guard unsafe Self.begins(line, with: "content-length:") else { return true }
        isFraming = true
        let start = "content-length:".utf8.count
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

    /// Whether the line begins with a field's name and the colon, which are in lower case.
    private static func begins(_ line: UnsafeRawBufferPointer, with name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard line.count >= count, let first = unsafe line.first,
            unsafe first | 0x20 == name.utf8Start.pointee,
            let start = unsafe line.assumingMemoryBound(to: CChar.self).baseAddress
        else { return false }
        return unsafe name.utf8Start.withMemoryRebound(to: CChar.self, capacity: count) {
            unsafe strncasecmp(start, $0, count) == 0
        }
    }
}
