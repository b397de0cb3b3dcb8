/// Digests as hexadecimal text.
package enum HexDigest {
    /// SHA-256 (FIPS 180-4), for names that must not collide and must not reveal their input. Stored responses and
    /// interrupted transfers are found on disk by such names, which another spelling would lose.
    package static func sha256(_ bytes: some Collection<UInt8>) -> String {
        var hash = SHA2.sha256
        hash.update(bytes)
        return hash.finish().map(\.hexadecimal).joined()
    }

    /// SHA-512/256 (FIPS 180-4 §6.7): the first half of a SHA-512 with different initial values.
    package static func sha512Half(_ bytes: some Collection<UInt8>) -> String {
        var hash = SHA2.sha512Half
        hash.update(bytes)
        return hash.finish().prefix(32).map(\.hexadecimal).joined()
    }

    /// MD5 (RFC 1321), for protocols that require it; it does not withstand an attacker.
    package static func md5(_ bytes: some Collection<UInt8>) -> String {
        var hash = MD5()
        hash.update(bytes)
        return hash.finish().map(\.hexadecimal).joined()
    }
}

extension FixedWidthInteger {
    /// All digits, leading zeros included.
    var hexadecimal: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}
