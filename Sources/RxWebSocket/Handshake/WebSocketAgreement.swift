/// The result of a handshake.
package struct WebSocketAgreement: Sendable, Hashable {
    /// The subprotocol that the server chose; `nil` for none.
    package var subprotocol: String?
    /// The parameters of `permessage-deflate`; `nil` if messages are not compressed.
    package var deflate: PermessageDeflate?

    package init(subprotocol: String? = nil, deflate: PermessageDeflate? = nil) {
        self.subprotocol = subprotocol
        self.deflate = deflate
    }
}
