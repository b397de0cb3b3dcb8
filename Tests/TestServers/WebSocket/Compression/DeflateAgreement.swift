/// permessage-deflate as agreed in a handshake.
struct DeflateAgreement: Equatable {
    let offer: DeflateOffer
    let request: DeflateRequest

    /// The value of Sec-WebSocket-Extensions in the response.
    var field: String {
        var parts = ["permessage-deflate"]
        if offer.serverWithoutContext { parts.append("server_no_context_takeover") }
        if let bits = offer.serverBits { parts.append("server_max_window_bits=\(bits)") }
        if request.clientWithoutContext { parts.append("client_no_context_takeover") }
        if let bits = request.clientBits { parts.append("client_max_window_bits=\(bits)") }
        return parts.joined(separator: "; ")
    }
}
