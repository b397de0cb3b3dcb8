/// Checks and formats hosts for lines that curl parses.
enum HostText {
    /// Whether `text` is a name of letters, digits, hyphens, underscores and dots, within the length limit of
    /// DNS. A leading hyphen would make curl remove an override (`CURLOPT_RESOLVE`).
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 253 && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { byte in
                switch byte | 0x20 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"): true
                default: "0123456789-._".utf8.contains(byte)
                }
            }
    }

    /// Whether `text` is an IPv4 or IPv6 address.
    static func isAddress(_ text: String) -> Bool { !text.utf8.contains(0) && IPAddress(text) != nil }

    /// Puts an IPv6 address in brackets; returns any other host unchanged.
    static func bracketed(_ host: String) -> String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    }
}
