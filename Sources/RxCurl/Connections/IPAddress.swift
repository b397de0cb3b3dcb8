#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// An IPv4 or IPv6 address.
struct IPAddress: Equatable {
    /// Four or sixteen bytes, most significant first.
    let bytes: [UInt8]

    /// Reads the address in a socket address, as passed to `CURLOPT_OPENSOCKETFUNCTION`; `nil` for other
    /// families.
    ///
    /// - Parameter address: a `sockaddr` with the size of its family.
    init?(family: Int32, _ address: UnsafeRawPointer, count: Int) {
        // <netinet/in.h>: family and port take four bytes; in IPv6 the flow information takes another four.
        let (start, size) =
            switch family {
            case AF_INET: (4, 4)
            case AF_INET6: (8, 16)
            default: (0, 0)
            }
        guard size > 0, count >= start + size else { return nil }
        bytes = unsafe Array(UnsafeRawBufferPointer(start: address + start, count: size))
    }

    /// Parses an address such as `192.0.2.7` or `2001:db8::7`; `nil` for other texts.
    init?(_ text: String) {
        for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: size)
            if unsafe inet_pton(family, text, &bytes) == 1 {
                self.bytes = bytes
                return
            }
        }
        return nil
    }

    /// Whether the address is public: in none of the special-purpose ranges of the IANA registries (RFC 6890
    /// and its successors), not multicast, and without such an IPv4 address embedded in an IPv6 one.
    var isPublic: Bool {
        if bytes.count == 4 { return !Self.reserved4.contains { $0.contains(bytes) } }
        if let inner = embedded { return inner.isPublic }
        // Global unicast is 2000::/3 (RFC 4291 §2.4, RFC 3587).
        return Block("2000::", 3).contains(bytes) && !Self.reserved6.contains { $0.contains(bytes) }
    }

    /// The IPv4 address that packets to this IPv6 address are sent to: mapped (RFC 4291), NAT64 (RFC 6052),
    /// 6to4 (RFC 3056).
    private var embedded: IPAddress? {
        if Block("::ffff:0:0", 96).contains(bytes) || Block("64:ff9b::", 96).contains(bytes) {
            return IPAddress(raw: Array(bytes[12...]))
        }
        return Block("2002::", 16).contains(bytes) ? IPAddress(raw: Array(bytes[2..<6])) : nil
    }

    private init(raw: [UInt8]) { bytes = raw }

    private struct Block {
        let bytes: [UInt8]
        let bits: Int

        init(_ text: String, _ bits: Int) {
            bytes = IPAddress(text)?.bytes ?? []
            self.bits = bits
        }

        func contains(_ other: [UInt8]) -> Bool {
            guard bytes.count == other.count else { return false }
            return (0..<bits).allSatisfy { bit in
                (bytes[bit / 8] ^ other[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
            }
        }
    }

    /// https://www.iana.org/assignments/iana-ipv4-special-registry and multicast (RFC 5771).
    private static let reserved4 = [
        Block("0.0.0.0", 8), Block("10.0.0.0", 8), Block("100.64.0.0", 10), Block("127.0.0.0", 8),
        Block("169.254.0.0", 16), Block("172.16.0.0", 12), Block("192.0.0.0", 24), Block("192.0.2.0", 24),
        Block("192.88.99.0", 24), Block("192.168.0.0", 16), Block("198.18.0.0", 15),
        Block("198.51.100.0", 24), Block("203.0.113.0", 24), Block("224.0.0.0", 4), Block("240.0.0.0", 4),
    ]

    /// https://www.iana.org/assignments/iana-ipv6-special-registry, limited to 2000::/3.
    private static let reserved6 = [
        Block("2001::", 23), Block("2001:db8::", 32), Block("3fff::", 20),
    ]
}

extension IPAddress: CustomStringConvertible {
    var description: String {
        var text = [CChar](repeating: 0, count: 46)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard unsafe inet_ntop(family, bytes, &text, 46) != nil else { return "\(bytes)" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
