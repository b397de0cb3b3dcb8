import CLibcurl
import FoundationEssentials
import HTTPTypes
import RxHTTP

/// Writes the head of a request that asks for another protocol (RFC 9112 §3), since curl only makes its
/// connection.
enum RequestHeadBytes {
    /// The request line and the header fields of `list`.
    static func bytes(of request: Request, to target: CheckedURL, _ list: HeaderList) -> [UInt8] {
        let text = target.text
        let authority = text.utf8.prefix(target.originLength)
        let path = text.utf8.dropFirst(target.originLength).prefix { $0 != UInt8(ascii: "#") }
        var bytes = Array("\(request.method.rawValue) ".utf8)
        if path.first != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
        bytes += path
        bytes += Array(" HTTP/1.1\r\nHost: ".utf8)
        let start = authority.lastIndex(of: UInt8(ascii: "@")) ?? authority.lastIndex(of: UInt8(ascii: "/"))
        if let start { bytes += authority[authority.index(after: start)...] }
        bytes += lineEnd
        var hasAuthorization = false
        unsafe list.forEachLine { line in
            guard let written = unsafe written(line) else { return }
            hasAuthorization =
                hasAuthorization || written.starts(with: "authorization:".utf8) { $0 | 0x20 == $1 }
            bytes += written
            bytes += lineEnd
        }
        if !hasAuthorization, let credentials = credentials(in: authority) {
            bytes += Array("Authorization: Basic \(credentials)\r\n".utf8)
        }
        return bytes + lineEnd
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]

    /// A line of curl's list in the form in which it is sent: `Name;` means an empty field, and `Name:` no field.
    private static func written(_ line: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard let last = unsafe line.last else { return nil }
        var bytes = unsafe Array(line)
        if bytes.firstIndex(of: UInt8(ascii: ":")) == bytes.count - 1 { return nil }
        if last == UInt8(ascii: ";"), !bytes.contains(UInt8(ascii: ":")) {
            bytes[bytes.count - 1] = UInt8(ascii: ":")
        }
        return bytes
    }

    /// The user info of the URL for Basic (RFC 7617 §2), as curl sends it.
    private static func credentials(in authority: Substring.UTF8View) -> String? {
        guard let end = authority.lastIndex(of: UInt8(ascii: "@")),
            let slash = authority.lastIndex(of: UInt8(ascii: "/"))
        else { return nil }
        let text = String(authority[authority.index(after: slash)..<end]) ?? ""
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let pair = (0..<2).map { $0 < parts.count ? decoded(parts[$0]) : [] }
        return Data(pair[0] + [UInt8(ascii: ":")] + pair[1]).base64EncodedString()
    }

    private static func decoded(_ text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let text = String(digits),
                let value = UInt8(text, radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}

extension HeaderList {
    /// Calls `body` with each line, without its end.
    fileprivate func forEachLine(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        var next = unsafe raw
        while let line = unsafe next {
            if let text = unsafe line.pointee.data {
                // The raw bytes: a value need not be UTF-8.
                var count = 0
                while unsafe text[count] != 0 { count += 1 }
                unsafe text.withMemoryRebound(to: UInt8.self, capacity: count) {
                    unsafe body(UnsafeBufferPointer(start: $0, count: count))
                }
            }
            unsafe next = unsafe line.pointee.next
        }
    }
}
