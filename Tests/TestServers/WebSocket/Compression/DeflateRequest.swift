/// The parameters that the server of a case asks of a client which offers permessage-deflate.
struct DeflateRequest: Hashable, Sendable {
    /// `client_no_context_takeover`, which a server may answer unasked (RFC 7692 §7.1.1.2).
    var clientWithoutContext = false
    /// `client_max_window_bits`; only for offers that name it (RFC 7692 §7.1.2.2).
    var clientBits: Int?

    /// The agreement by the first request that one of the offers allows; `nil` to do without compression.
    static func agree(_ requests: [DeflateRequest], on offers: [DeflateOffer]) -> DeflateAgreement? {
        for request in requests {
            // The zlib library has no raw deflate with a window of 256 octets.
            let offer = offers.first {
                (request.clientBits == nil || $0.acceptsClientBits) && $0.serverBits != 8
            }
            if let offer { return DeflateAgreement(offer: offer, request: request) }
        }
        return nil
    }
}
