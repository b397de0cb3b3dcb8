/// The two ends of a connection.
struct ConnectionEndpoints {
    var address: String?
    var port = 0
    var localPort = 0
}

/// The address that was read last, since most requests go to the same few.
@safe
struct AddressCache {
    private var address = ""

    /// The text, or `nil` if it is empty. `text` is valid and ends with a zero.
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
