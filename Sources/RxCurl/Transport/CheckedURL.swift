import FoundationEssentials
import RxHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A URL that curl may be given: absolute, http or https, with a host, and without bytes that two parsers
/// could read differently.
struct CheckedURL {
    let text: String
    /// Whether the URL contains `user:password@`.
    let hasUserInfo: Bool
    /// The length of scheme and authority, in bytes.
    let originLength: Int

    /// Whether the scheme is http.
    var isPlain: Bool { text.utf8.dropFirst(4).first == UInt8(ascii: ":") }

    /// Checks the URL of a request; throws ``NetworkError/Code/invalidURL``.
    init(of request: Request) throws(NetworkError) {
        var text = request.urlText
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

    /// Whether `url` is an https URL that curl may be given.
    static func isSecure(_ url: String) -> Bool {
        var url = url
        guard case .success = url.withUTF8({ bytes in unsafe Self.inspect(bytes) }) else { return false }
        return url.utf8.dropFirst(4).first != UInt8(ascii: ":")
    }

    private enum Flaw: String, Error {
        case scheme = "the URL is not an absolute http or https URL"
        case host = "the URL has no host"
        case longHost = "the URL's host is longer than 255 bytes"
        case port = "the URL's port is not a number from 1 to 65535"
        case byte = "the URL contains a character that must be percent-encoded"
    }

    /// The maximum length of a host in bytes: that of SOCKS5 (RFC 1928 §5); a name of DNS has 253. libcurl before
    /// 8.4 writes a longer one past the end of a buffer (``LibcurlFault/overflowsSOCKSNames``).
    private static let longestHost = 255

    /// Checks the scheme, the authority (RFC 3986 §3.2) and every byte; returns whether there is user info
    /// and where the authority ends. It runs for every request, hence the plain loops.
    private static func inspect(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<(Bool, Int), Flaw> {
        for index in 0..<bytes.count {
            let byte = unsafe bytes[index]
            // ``RequestHeadBytes`` writes the URL into the request line as it is.
            if byte <= 0x20 || byte >= 0x7F || byte == UInt8(ascii: "\\") { return .failure(.byte) }
        }
        let start: Int
        if unsafe hasPrefix("http://", bytes) {
            start = 7
        } else if unsafe hasPrefix("https://", bytes) {
            start = 8
        } else {
            return .failure(.scheme)
        }
        var end = start
        var host = start
        // In an IPv6 literal the port follows the bracket.
        var colon: Int?
        authority: while end < bytes.count {
            switch unsafe bytes[end] {
            case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break authority
            case UInt8(ascii: "@"): (host, colon) = (end + 1, nil)
            case UInt8(ascii: "]"): colon = nil
            case UInt8(ascii: ":"): colon = colon ?? end
            default: break
            }
            end += 1
        }
        guard colon ?? end > host else { return .failure(.host) }
        guard (colon ?? end) - host <= longestHost else { return .failure(.longHost) }
        if let colon {
            var port = 0
            for index in colon + 1..<end {
                let digit = unsafe bytes[index] &- UInt8(ascii: "0")
                guard digit <= 9, end - colon <= 6 else { return .failure(.port) }
                port = port * 10 + Int(digit)
            }
            // A colon without a number means the default port of the scheme.
            guard end == colon + 1 || 1...65535 ~= port else { return .failure(.port) }
        }
        return .success((host > start, end))
    }

    /// Whether scheme and authority are equal to these bytes.
    func hasOrigin(_ bytes: [UInt8]) -> Bool {
        guard originLength == bytes.count else { return false }
        let isSame = unsafe text.utf8.withContiguousStorageIfAvailable { text in
            unsafe UnsafeRawBufferPointer(start: text.baseAddress, count: bytes.count).holds(bytes)
        }
        return isSame == true
    }

    private static func hasPrefix(_ prefix: StaticString, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = prefix.utf8CodeUnitCount
        guard bytes.count >= count else { return false }
        for index in 0..<count {
            // `:` and `/` have the bit set that makes letters lower-case.
            guard unsafe bytes[index] | 0x20 == prefix.utf8Start[index] else { return false }
        }
        return true
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are equal to `expected`, which is short.
    func holds(_ expected: [UInt8]) -> Bool {
        guard count == expected.count else { return false }
        return unsafe expected.withUnsafeBytes { other in
            guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
            return unsafe memcmp(start, otherStart, count) == 0
        }
    }
}
