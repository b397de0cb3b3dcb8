import Synchronization
import TestServers

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Requires a digest (RFC 7616), as a server or as an HTTP proxy, and verifies it. As a proxy it also is the
/// destination of its tunnels.
struct DigestServer: Sendable {
    enum Algorithm: String, CaseIterable, Sendable {
        case md5 = "MD5"
        case sha256 = "SHA-256"
    }

    var algorithm = Algorithm.md5
    var user = "anna"
    var password = "p:ä\"ß"
    var isProxy = false
    /// Parameters besides the challenge.
    var fields = ""

    func serve() throws -> RawServer {
        try RawServer { request in
            // Within a tunnel.
            if isProxy, request.target.hasPrefix("/") { return [.respond(200, body: "well")] }
            guard isRight(request) else {
                let status = isProxy ? "407 No" : "401 No"
                let name = isProxy ? "Proxy-Authenticate" : "WWW-Authenticate"
                let challenge =
                    "Digest realm=\"tea\", qop=\"auth\", algorithm=\(algorithm.rawValue), nonce=\"n1\", opaque=\"o\""
                return [
                    .send("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\(name): \(challenge)\r\n\r\nno")
                ]
            }
            if request.method == "CONNECT" { return [.send("HTTP/1.1 200 Connected\r\n\r\n")] }
            return [.respond(200, body: "well")]
        }
    }

    private func isRight(_ request: RawServer.Request) -> Bool {
        guard let text = request.field(isProxy ? "Proxy-Authorization" : "Authorization"),
            text.hasPrefix("Digest ")
        else { return false }
        var values: [String: String] = [:]
        for part in text.dropFirst(7).split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1)
            guard sides.count == 2 else { return false }
            let name = sides[0].drop { $0 == " " }
            values[String(name)] = sides[1].filter { $0 != "\"" }
        }
        guard let cnonce = values["cnonce"], !cnonce.isEmpty, let count = values["nc"],
            values["nonce"] == "n1", values["opaque"] == "o", values["qop"] == "auth",
            values["realm"] == "tea", let uri = values["uri"], uri == expectedURI(of: request),
            values["username"] == user
        else { return false }
        let secret = hash("\(user):tea:\(password)")
        let what = hash("\(request.method):\(uri)")
        return values["response"] == hash("\(secret):n1:\(count):\(cnonce):auth:\(what)")
    }

    /// For a proxy that gets the absolute form, curl digests the path.
    private func expectedURI(of request: RawServer.Request) -> String {
        guard isProxy, let scheme = request.target.firstRange(of: "://") else { return request.target }
        return String(request.target[scheme.upperBound...].drop { $0 != "/" })
    }

    private func hash(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var digest = [UInt8](repeating: 0, count: algorithm == .md5 ? 16 : 32)
        typealias Hash =
            @convention(c) (UnsafePointer<UInt8>, Int, UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<
                UInt8
            >?
        // libcrypto's, which libcurl has loaded: https://docs.openssl.org/3.0/man3/SHA256_Init.
        guard let symbol = unsafe dlsym(nil, algorithm == .md5 ? "MD5" : "SHA256") else { return "" }
        let hash = unsafe unsafeBitCast(symbol, to: Hash.self)
        _ = unsafe hash(bytes, bytes.count, &digest)
        return digest.map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }
}
