/// A version of HTTP (RFC 9110 §2.5).
public struct HTTPVersion: Sendable, Hashable {
    private let number: UInt16

    /// The digit before the dot.
    public var major: Int { Int(number >> 8) }
    /// The digit after the dot; 0 from HTTP/2 on.
    public var minor: Int { Int(number & 0xFF) }

    /// HTTP/1.0 (RFC 1945).
    public static let http10 = HTTPVersion(1, 0)
    /// HTTP/1.1 (RFC 9112).
    public static let http11 = HTTPVersion(1, 1)
    /// HTTP/2 (RFC 9113).
    public static let http2 = HTTPVersion(2, 0)
    /// HTTP/3 (RFC 9114).
    public static let http3 = HTTPVersion(3, 0)

    private init(_ major: UInt8, _ minor: UInt8) { number = UInt16(major) << 8 | UInt16(minor) }
}

extension HTTPVersion: LosslessStringConvertible {
    /// Reads `HTTP/1.1` or `HTTP/2`; `nil` unless `HTTP/` is followed by one digit, or by two with a dot
    /// between them.
    public init?(_ description: String) {
        let bytes = Array(description.utf8)
        guard bytes.starts(with: "HTTP/".utf8) else { return nil }
        func digit(_ byte: UInt8) -> UInt8? { 0x30...0x39 ~= byte ? byte - 0x30 : nil }
        switch bytes.count {
        case 6:
            guard let major = digit(bytes[5]) else { return nil }
            self.init(major, 0)
        case 8 where bytes[6] == UInt8(ascii: "."):
            guard let major = digit(bytes[5]), let minor = digit(bytes[7]) else { return nil }
            self.init(major, minor)
        default: return nil
        }
    }

    /// The version as in a status line: `HTTP/1.1`, `HTTP/2`. Stored heads contain it, and ``init(_:)`` reads it.
    public var description: String { major < 2 || minor > 0 ? "HTTP/\(major).\(minor)" : "HTTP/\(major)" }
}

extension HTTPVersion: Comparable {
    /// The order of publication.
    public static func < (left: HTTPVersion, right: HTTPVersion) -> Bool { left.number < right.number }
}
