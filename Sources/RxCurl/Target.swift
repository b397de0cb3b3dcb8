internal import FoundationEssentials
internal import RxHTTP

/// A URL that curl may be given: absolute, http or https, with a host, and free of bytes that two parsers
/// could read in two ways.
struct Target {
    let text: String
    /// Whether it carries `user:password@`.
    let hasUserInfo: Bool
    /// How many bytes of the text are scheme and authority.
    let originLength: Int

    /// Whether the scheme is http.
    var isPlain: Bool { text.utf8.dropFirst(4).first == UInt8(ascii: ":") }

    /// Checks `url`; throws ``NetworkError/Code/invalidURL``.
    init(of request: Request) throws(NetworkError) {
        var text = request.url.absoluteString
        let found = text.withUTF8 { bytes in unsafe Self.inspect(bytes) }
        switch found {
        case .success(let (hasUserInfo, originLength)):
            self.text = text
            self.hasUserInfo = hasUserInfo
            self.originLength = originLength
        case .failure(let flaw):
            throw NetworkError(.invalidURL, flaw.rawValue, request: request)
        }
    }

    private enum Flaw: String, Error {
        case scheme = "the URL is not an absolute http or https URL"
        case host = "the URL has no host"
        case port = "the URL's port is not a number from 1 to 65535"
        case byte = "the URL holds a character that has to be percent-encoded"
    }

    /// Looks at the scheme, the authority (RFC 3986 §3.2) and every byte; says whether there is user info and where
    /// the authority ends.
    private static func inspect(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<(Bool, Int), Flaw> {
        guard unsafe bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else {
            return .failure(.byte)
        }
        let start: Int
        if unsafe hasPrefix("http://", bytes) {
            start = 7
        } else if unsafe hasPrefix("https://", bytes) {
            start = 8
        } else {
            return .failure(.scheme)
        }
        let end =
            unsafe bytes[start...].firstIndex {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
            } ?? bytes.count
        let at = unsafe bytes[start..<end].lastIndex(of: UInt8(ascii: "@"))
        let host = unsafe bytes[(at.map { $0 + 1 } ?? start)..<end]
        // In an IPv6 literal the port comes after the bracket.
        let bracket = unsafe host.lastIndex(of: UInt8(ascii: "]"))
        let colon = unsafe host[(bracket ?? host.startIndex)...].firstIndex(of: UInt8(ascii: ":"))
        guard unsafe (colon ?? host.endIndex) > host.startIndex else { return .failure(.host) }
        if let colon {
            let digits = unsafe host[(colon + 1)...]
            guard unsafe digits.count <= 5, unsafe digits.allSatisfy({ (0x30...0x39).contains($0) }),
                unsafe digits.isEmpty
                    || (1...65535).contains(digits.reduce(0) { $0 * 10 + Int($1 - 0x30) })
            else { return .failure(.port) }
        }
        return .success((at != nil, end))
    }

    /// Whether scheme and authority are these bytes.
    func hasOrigin(_ bytes: [UInt8]) -> Bool {
        guard originLength == bytes.count else { return false }
        let isSame = unsafe text.utf8.withContiguousStorageIfAvailable { text in
            unsafe text.prefix(bytes.count).elementsEqual(bytes)
        }
        return isSame == true
    }

    private static func hasPrefix(_ prefix: StaticString, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = prefix.utf8CodeUnitCount
        guard bytes.count >= count else { return false }
        return prefix.withUTF8Buffer { expected in
            // `:` and `/` have the bit set that makes letters lower-case.
            unsafe bytes[..<count].elementsEqual(expected) { $0 | 0x20 == $1 }
        }
    }
}
