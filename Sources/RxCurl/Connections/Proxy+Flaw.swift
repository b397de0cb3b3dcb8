extension Proxy {
    /// The value of `CURLOPT_PROXYAUTH`; `nil` for curl's default, which is basic.
    var authenticationMask: Int? {
        switch authentication {
        case .basic: nil
        // `CURLAUTH_DIGEST`, a macro with a cast.
        case .digest: 1 << 1
        }
    }

    /// The reason why the proxy cannot be passed to curl; `nil` if it can. Contains no part of the URL, which
    /// may have a password.
    var flaw: String? {
        guard case .server(let url) = choice else { return nil }
        guard url.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return "the URL contains a character that must be percent-encoded"
        }
        // Without a scheme it is an HTTP proxy.
        if let end = url.firstRange(of: "://"), !Self.schemes.contains(url[..<end.lowerBound].lowercased()) {
            return "the URL's scheme is not one of \(Self.schemes.joined(separator: ", "))"
        }
        let isLegal = exceptions.allSatisfy { exception in
            !exception.isEmpty && exception.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: ",") }
        }
        return isLegal ? nil : "an exception is not a host, an address or a range of addresses"
    }

    private static let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
}
