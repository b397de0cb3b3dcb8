/// The parameters of `permessage-deflate` in an offer or a response, checked one by one (RFC 7692 §7.1).
struct DeflateParameters {
    private(set) var dropsServerContext = false
    private(set) var dropsClientContext = false
    private(set) var serverBits: Int?
    private(set) var clientBits: Int?
    /// Whether `client_max_window_bits` is there, with or without a value.
    private(set) var limitsClient = false

    /// Fails if a parameter is unknown, repeated, or has a value that it must not have.
    init?(_ item: WebSocketExtension, isOffer: Bool) {
        for parameter in item.parameters {
            switch parameter.name {
            case "server_no_context_takeover" where !dropsServerContext && parameter.value == nil:
                dropsServerContext = true
            case "client_no_context_takeover" where !dropsClientContext && parameter.value == nil:
                dropsClientContext = true
            case "server_max_window_bits" where serverBits == nil:
                guard let bits = Self.bits(parameter.value) else { return nil }
                serverBits = bits
            case "client_max_window_bits" where !limitsClient:
                limitsClient = true
                // Only an offer may leave the value out.
                if isOffer, parameter.value == nil { continue }
                guard let bits = Self.bits(parameter.value) else { return nil }
                clientBits = bits
            default: return nil
            }
        }
    }

    /// A decimal number from 8 to 15 without leading zeros.
    private static func bits(_ text: String?) -> Int? {
        guard let text, let bits = (8...15).first(where: { String($0) == text }) else { return nil }
        return bits
    }
}
