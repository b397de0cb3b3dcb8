/// The `Content-Length` of an answer. libcurl takes the last of several, reads `2abc` as 2 and takes a number
/// beyond 63 bits for none; an answer whose length is not certain has to be refused (RFC 9112 §6.3).
struct AnnouncedLength {
    private var value: Int?

    /// Looks at a field line; false if it is a length that is none or contradicts the one before. A list of the
    /// same number is that number.
    mutating func admit(_ line: UnsafeRawBufferPointer) -> Bool {
        let name: StaticString = "content-length:"
        let count = name.utf8CodeUnitCount
        guard line.count > count, unsafe line[0] | 0x20 == UInt8(ascii: "c") else { return true }
        let isLength = name.withUTF8Buffer { name in
            // `-` and `:` have the bit set that makes letters lower-case.
            unsafe line[..<count].elementsEqual(name) { $0 | 0x20 == $1 }
        }
        guard isLength else { return true }
        let list = unsafe String(decoding: line[count...], as: UTF8.self)
        for item in list.split(separator: ",", omittingEmptySubsequences: false) {
            let digits = item.drop(while: \.isWhitespace)
            let end = digits.firstIndex(where: \.isWhitespace) ?? digits.endIndex
            guard digits[end...].allSatisfy(\.isWhitespace),
                digits.utf8.first.map((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) == true,
                let number = Int(digits[..<end]), value == nil || value == number
            else { return false }
            value = number
        }
        return true
    }
}
