/// The status code of a close frame (RFC 6455 §7.4).
///
/// Open-ended: 3000 to 3999 are registered by libraries and frameworks, 4000 to 4999 belong to applications.
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    /// The number.
    public var rawValue: UInt16

    /// Creates a code.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// 1000: the purpose of the connection is fulfilled.
    public static let normalClosure = WebSocketCloseCode(rawValue: 1000)
    /// 1001: the server shuts down, or the user leaves the page.
    public static let goingAway = WebSocketCloseCode(rawValue: 1001)
    /// 1002: the peer violated the protocol.
    public static let protocolError = WebSocketCloseCode(rawValue: 1002)
    /// 1003: the endpoint does not accept this kind of data, for example binary messages.
    public static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// 1005: the close frame had no code. Never sent.
    public static let noStatus = WebSocketCloseCode(rawValue: 1005)
    /// 1006: the connection ended without a close frame. Never sent.
    public static let abnormalClosure = WebSocketCloseCode(rawValue: 1006)
    /// 1007: the data of a message is inconsistent with its type, for example a text that is not UTF-8.
    public static let invalidPayload = WebSocketCloseCode(rawValue: 1007)
    /// 1008: a message violates a policy for which there is no better code.
    public static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    /// 1009: a message is too large to process.
    public static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    /// 1010: the server did not agree to an extension that the client needs.
    public static let missingExtension = WebSocketCloseCode(rawValue: 1010)
    /// 1011: the server met an unexpected condition.
    public static let internalError = WebSocketCloseCode(rawValue: 1011)
    /// 1012: the server restarts.
    public static let serviceRestart = WebSocketCloseCode(rawValue: 1012)
    /// 1013: the server is overloaded; the client may connect again later.
    public static let tryAgainLater = WebSocketCloseCode(rawValue: 1013)
    /// 1014: a gateway got an invalid response from the server behind it.
    public static let badGateway = WebSocketCloseCode(rawValue: 1014)
    /// 1015: the TLS handshake failed. Never sent.
    public static let tlsFailure = WebSocketCloseCode(rawValue: 1015)

    /// Whether a close frame may contain the code: 1000 to 1003, 1007 to 1014, and 3000 to 4999 (RFC 6455
    /// §7.4.2 and IANA's registry).
    ///
    /// A received close frame with any other code violates the protocol.
    public var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

extension WebSocketCloseCode: CustomStringConvertible {
    /// The number, followed by the name of a registered code: `1000 (normal closure)`.
    public var description: String { name.map { "\(rawValue) (\($0))" } ?? "\(rawValue)" }

    private var name: String? {
        switch self {
        case .normalClosure: "normal closure"
        case .goingAway: "going away"
        case .protocolError: "protocol error"
        case .unsupportedData: "unsupported data"
        case .noStatus: "no status"
        case .abnormalClosure: "abnormal closure"
        case .invalidPayload: "invalid payload"
        case .policyViolation: "policy violation"
        case .messageTooBig: "message too big"
        case .missingExtension: "missing extension"
        case .internalError: "internal error"
        case .serviceRestart: "service restart"
        case .tryAgainLater: "try again later"
        case .badGateway: "bad gateway"
        case .tlsFailure: "TLS failure"
        default: nil
        }
    }
}
