#if Inspector
import FlyingFox
import FoundationEssentials

/// Joins the frames of a browser into messages, by the rules of RFC 6455 §5.4 and §5.5.
struct MessageAssembly {
    /// The result of a frame.
    enum Result: Equatable {
        /// The message is not complete.
        case none
        /// A whole message.
        case text(String)
        /// A frame to send back.
        case reply(WSFrame)
        /// A frame to send before the connection ends.
        case end(WSFrame)
    }

    private let limit: Int
    private var partial: [UInt8]?

    /// - Parameter limit: the maximum number of bytes of a message.
    init(limit: Int) { self.limit = limit }

    mutating func take(_ frame: WSFrame) -> Result {
        guard !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return Self.failure(.protocolError) }
        switch frame.opcode {
        case .text where partial == nil: return append(frame, to: [])
        case .continuation:
            guard let partial else { return Self.failure(.protocolError) }
            return append(frame, to: partial)
        case .binary: return Self.failure(.unsupportedData)
        case .ping where frame.isControl:
            return .reply(WSFrame(fin: true, opcode: .pong, mask: nil, payload: frame.payload))
        case .pong where frame.isControl: return .none
        case .close where frame.isControl:
            return .end(WSFrame(fin: true, opcode: .close, mask: nil, payload: Data(frame.payload.prefix(2))))
        default: return Self.failure(.protocolError)
        }
    }

    private mutating func append(_ frame: WSFrame, to bytes: [UInt8]) -> Result {
        partial = nil
        guard bytes.count + frame.payload.count <= limit else { return Self.failure(.messageTooBig) }
        let bytes = bytes + frame.payload
        guard frame.fin else {
            partial = bytes
            return .none
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return Self.failure(.invalidFramePayload)
        }
        return .text(text)
    }

    private static func failure(_ code: WSCloseCode) -> Result { .end(.close(code: WSCloseCode(code.code))) }
}

extension WSFrame {
    /// Whether it may be a control frame: whole, with at most 125 bytes.
    fileprivate var isControl: Bool { fin && payload.count <= 125 }
}
#endif
