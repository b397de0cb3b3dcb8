/// An offer of permessage-deflate by a client (RFC 7692 §7.1).
struct DeflateOffer: Equatable {
    /// A parameter that RFC 7692 does not allow; the suite refuses such a handshake.
    struct Invalid: Error {
        let reason: String
    }

    /// `server_no_context_takeover`.
    var serverWithoutContext = false
    /// `server_max_window_bits`.
    var serverBits: Int?
    /// Whether the client understands `client_max_window_bits`.
    var acceptsClientBits = false

    /// The offers of permessage-deflate in a Sec-WebSocket-Extensions value, in order.
    static func all(in field: String) throws(Invalid) -> [DeflateOffer] {
        var offers: [DeflateOffer] = []
        for element in field.split(separator: ",") {
            let parts = element.split(separator: ";").map { UpgradeRequest.trimmed($0) }
            guard parts.first?.lowercased() == "permessage-deflate" else { continue }
            offers.append(try DeflateOffer(parts.dropFirst()))
        }
        return offers
    }

    private init(_ parameters: ArraySlice<String>) throws(Invalid) {
        var seen: Set<String> = []
        for parameter in parameters {
            let parts = parameter.split(separator: "=", maxSplits: 1).map { UpgradeRequest.trimmed($0) }
            let name = parts.first?.lowercased() ?? ""
            let value = parts.count == 2 ? parts[1].filter { $0 != "\"" } : nil
            guard seen.insert(name).inserted else { throw Invalid(reason: "two parameters \(name)") }
            switch (name, value) {
            case ("server_no_context_takeover", nil): serverWithoutContext = true
            case ("client_no_context_takeover", nil): break
            case ("client_max_window_bits", nil): acceptsClientBits = true
            case ("client_max_window_bits", let value?) where Self.bits(value) != nil:
                acceptsClientBits = true
            case ("server_max_window_bits", let value?) where Self.bits(value) != nil:
                serverBits = Self.bits(value)
            default: throw Invalid(reason: "the parameter “\(parameter)”")
            }
        }
    }

    private static func bits(_ text: String) -> Int? {
        Int(text).flatMap { (8...15).contains($0) && String($0) == text ? $0 : nil }
    }
}
