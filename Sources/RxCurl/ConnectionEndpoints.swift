/// The two ends of a connection.
struct ConnectionEndpoints {
    var address: String?
    var port = 0
    var localPort = 0
}

/// Keeps the address that was read last, because most requests go to the same few addresses.
@safe
struct AddressCache {
    private var address = ""

    /// Returns the text, or `nil` if it is empty. `text` must be valid and NUL-terminated.
    mutating func read(_ text: UnsafePointer<CChar>?) -> String? {
        guard let text = unsafe text, unsafe text.pointee != 0 else { return nil }
        let isSame = address.withUTF8 { known in
            var index = 0
            while index < known.count, unsafe UInt8(bitPattern: text[index]) == known[index] { index += 1 }
            return unsafe index == known.count && text[index] == 0
        }
        if !isSame { address = unsafe String(cString: text) }
        return address
    }
}
