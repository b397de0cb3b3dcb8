package import FoundationEssentials
import RxHTTP

/// The parts of a URL that matter for cookies. Public suffixes are a matter of ``CookieTable``, which checks them when
/// a cookie is set (`scope(of:from:)`).
package struct CookieOrigin {
    /// In lower case and ASCII; an IPv6 address without brackets.
    let host: String
    /// Whether the host is an IP address, which has no subdomains.
    let isAddress: Bool
    /// Percent-encoded as in the URL; never empty.
    let path: String
    /// Whether the scheme is https.
    private(set) var isSecure: Bool

    /// The maximum length of a DNS name in a message (RFC 1035 §2.3.4), a little more than that in text. A
    /// redirect may contain any name.
    private static let sizeLimit = 255

    /// Returns `nil` if the URL is not an absolute http or https URL, or its host is too long.
    package init?(_ url: URL) {
        guard let origin = Origin(url), let host = url.host(percentEncoded: false),
            host.utf8.count <= Self.sizeLimit
        else { return nil }
        self.host = Self.canonical(host)
        isAddress = Self.isAddress(self.host)
        let path = url.path(percentEncoded: true)
        self.path = path.hasPrefix("/") ? path : "/"
        isSecure = origin.scheme == "https"
    }

    /// This origin, secure only if `other` is too: for a request that also uses another connection.
    package func asSecure(as other: CookieOrigin) -> CookieOrigin {
        var origin = self
        origin.isSecure = isSecure && other.isSecure
        return origin
    }

    /// The directory of the path: the default path of a cookie without a `Path` attribute (RFC 6265 §5.1.4).
    var defaultPath: String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether a cookie with this `domain` may be sent to the host (RFC 6265 §5.1.3).
    func isWithin(_ domain: String) -> Bool {
        host == domain || (!isAddress && host.hasSuffix("." + domain))
    }

    /// The host and each of its parent domains.
    var domains: [String] {
        guard !isAddress else { return [host] }
        return sequence(first: host[...]) { domain in
            domain.firstIndex(of: ".").map { domain[domain.index(after: $0)...] }
        }
        .filter { !$0.isEmpty }.map(String.init)
    }

    /// A host name in lower case and ASCII, as resolvers expect it (RFC 6265 §5.1.2).
    static func canonical(_ host: String) -> String {
        let name = host.lowercased()
        guard !name.utf8.allSatisfy({ $0 < 0x80 }) else { return name }
        return name.parts(at: ".", omittingEmpty: false)
            .map { Punycode.label(String($0)) }.joined(separator: ".")
    }

    /// Whether the host is IPv6, or a name whose last label is a number, which is one of the notations of
    /// IPv4 (WHATWG URL, "ends in a number").
    static func isAddress(_ host: String) -> Bool {
        guard !host.utf8.contains(UInt8(ascii: ":")) else { return true }
        let last = host.split(separator: ".").last ?? ""
        guard !last.isEmpty else { return false }
        if last.hasPrefix("0x") { return last.utf8.dropFirst(2).allSatisfy(\.isHexDigit) }
        return last.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension String {
    /// Whether the path is `other`, or below it (RFC 6265 §5.1.4).
    func isBelow(_ other: String) -> Bool {
        let slash = UInt8(ascii: "/")
        guard utf8.starts(with: other.utf8) else { return false }
        return utf8.count == other.utf8.count || other.utf8.last == slash
            || utf8.dropFirst(other.utf8.count).first == slash
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}

/// Host names in ASCII (RFC 3492 §6.3).
enum Punycode {
    private static let base = 36
    private static let least = 1
    private static let most = 26

    /// A label as in DNS: `bücher` becomes `xn--bcher-kva`. A label that cannot be encoded is returned
    /// unchanged.
    static func label(_ label: String) -> String {
        let scalars = label.unicodeScalars.map { Int($0.value) }
        guard scalars.contains(where: { $0 >= 0x80 }) else { return label }
        guard let encoded = encode(scalars) else { return label }
        return "xn--" + encoded
    }

    private static func encode(_ scalars: [Int]) -> String? {
        // DNS labels have at most 63 bytes; much longer ones are not names, and would take quadratic time.
        guard scalars.count <= 255 else { return nil }
        var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
        let basic = output.count
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var (smallest, delta, bias, handled) = (0x80, 0, 72, basic)
        while handled < scalars.count {
            guard let next = scalars.filter({ $0 >= smallest }).min() else { return nil }
            delta += (next - smallest) * (handled + 1)
            smallest = next
            for scalar in scalars {
                if scalar < smallest { delta += 1 }
                guard scalar == smallest else { continue }
                output += digits(of: delta, bias: bias)
                bias = adapted(delta, count: handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            smallest += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Encodes a number with digits whose weights depend on their position.
    private static func digits(of number: Int, bias: Int) -> [UInt8] {
        var digits: [UInt8] = []
        var (rest, position) = (number, base)
        while true {
            let threshold = min(max(position - bias, least), most)
            guard rest >= threshold else { return digits + [digit(rest)] }
            digits.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
    }

    /// `a` to `z`, then `0` to `9`.
    private static func digit(_ value: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? value + 0x61 : value - 26 + 0x30)
    }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var bias = 0
        while delta > (base - least) * most / 2 {
            delta /= base - least
            bias += base
        }
        return bias + (base - least + 1) * delta / (delta + 38)
    }
}
