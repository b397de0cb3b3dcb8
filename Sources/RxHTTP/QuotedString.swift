/// Quoted strings of header fields (RFC 9110 §5.6.4).
package enum QuotedString {
    /// The content of the quoted string that begins at `index`, with its escapes resolved. Moves `index` past
    /// the string; a string without a closing quote extends to the end of the field.
    package static func read(from bytes: [UInt8], at index: inout Int) -> String {
        var content: [UInt8] = []
        index += 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count { index += 1 }
            content.append(bytes[index])
            index += 1
        }
        index = min(index + 1, bytes.count)
        return String(decoding: content, as: UTF8.self)
    }
}
