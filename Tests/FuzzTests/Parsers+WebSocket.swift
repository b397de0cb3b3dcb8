import HTTPTypes
import RxTesting
import RxWebSocket

/// Frames of a WebSocket. However they arrive, the outcome is the same, and there is no more of it than is
/// allowed.
extension Parser {
    static let webSocket: [Parser] =
        [WebSocketConnectionState.Role.client, .server].flatMap { role in
            [nil, PermessageDeflate(), forgetful].map { deflate in
                let name =
                    deflate == nil ? "" : deflate == forgetful ? ", compressed one by one" : ", compressed"
                let corpus = role == .client ? frames : frames.map(masked)
                return Parser("WebSocket of a \(role)\(name)", bytes: corpus) { bytes in
                    let whole = try outcome(of: bytes, by: bytes.count, role, deflate)
                    let sizes = [1, 2 + bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFF } % 29]
                    for size in sizes {
                        let pieces = try outcome(of: bytes, by: size, role, deflate)
                        try demand(pieces == whole, "\(pieces) by pieces of \(size), not \(whole)")
                    }
                    return whole
                }
            }
        } + [
            Parser(
                "Sec-WebSocket-Extensions",
                text: [
                    "permessage-deflate; client_max_window_bits=10; server_max_window_bits=\"12\"",
                    "permessage-deflate;server_no_context_takeover , x;y=z", "permessage-deflate", ",;=\"\"",
                ], negotiate)
        ]

    private static let forgetful: PermessageDeflate = {
        var parameters = PermessageDeflate()
        (parameters.serverKeepsContext, parameters.clientKeepsContext) = (false, false)
        (parameters.serverWindowBits, parameters.clientWindowBits) = (9, 9)
        return parameters
    }()

    private static let limits = WebSocketLimits(
        frameBytes: 3000, messageBytes: 4000, expansion: 10, expansionFloor: 1000)

    private static func outcome(
        of bytes: [UInt8], by size: Int, _ role: WebSocketConnectionState.Role, _ deflate: PermessageDeflate?
    ) throws -> String {
        var state = WebSocketConnectionState(
            role: role, limits: limits, deflate: deflate, random: SeededRandom(1))
        var inputs: [WebSocketInput] = []
        var replies: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: max(1, size)) {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            state.receive(piece, replies: &replies) { inputs.append($0) }
        }
        // Every item takes a frame, and every reply a ping or close frame.
        try demand(inputs.count <= bytes.count / 2 + 1, "\(inputs.count) items")
        try demand(replies.count <= 3 * bytes.count + 131, "\(replies.count) bytes of replies")
        for (index, input) in inputs.enumerated() {
            switch input {
            case .message(.text(let text)):
                try demand(text.utf8.count <= limits.messageBytes, "too much text")
            case .message(.binary(let bytes)):
                try demand(bytes.count <= limits.messageBytes, "\(bytes.count) bytes")
            case .ping(let payload), .pong(let payload):
                try demand(payload.count <= 125, "\(payload.count) bytes in a control frame")
            case .close, .violation: try demand(index == inputs.count - 1, "items after the end")
            }
        }
        let isClosed = state.isClosed
        try demand(isClosed == inputs.last.map(isEnd) ?? false, "\(state.phase) after \(inputs)")
        return "\(inputs) \(replies) \(state.phase)"
    }

    private static func isEnd(_ input: WebSocketInput) -> Bool {
        switch input {
        case .close, .violation: true
        default: false
        }
    }

    private static func negotiate(_ text: String) throws -> String {
        var random = SeededRandom(1)
        let handshake = try WebSocketHandshake(compression: .permessageDeflate, using: &random)
        var fields: HTTPFields = [.upgrade: "websocket", .connection: "upgrade"]
        fields[.secWebSocketAccept] = WebSocketHandshake.accept(for: handshake.key)
        fields[.secWebSocketExtensions] = text
        var offer = handshake.fields
        offer[.secWebSocketExtensions] = text
        let answer = try WebSocketHandshake.answer(to: offer, compression: .permessageDeflate)
        for bits in [answer.agreement.deflate?.serverWindowBits, answer.agreement.deflate?.clientWindowBits] {
            try demand((8...15).contains(bits ?? 8), "\(answer)")
        }
        do {
            let deflate = try handshake.verify(status: 101, fields: fields).deflate
            try demand((8...15).contains(deflate?.serverWindowBits ?? 8), "\(text)")
            try demand((8...15).contains(deflate?.clientWindowBits ?? 8), "\(text)")
            return "\(String(describing: deflate)) \(answer.fields)"
        } catch {
            return "\(error) \(answer.fields)"
        }
    }

    // MARK: - Corpus

    /// Unmasked frames.
    private static let frames: [[UInt8]] = [
        [0x81, 5] + Array("Hello".utf8) + [0x82, 2, 0xFF, 0, 0x89, 1, 7, 0x8A, 0, 0x88, 0],
        [0x01, 3, 0x61, 0xE2, 0x82, 0x89, 0, 0x00, 1, 0xAC, 0x80, 0, 0x88, 5, 3, 0xE8, 0x62, 0x79, 0x65],
        [0x82, 126, 0, 130] + [UInt8](repeating: 9, count: 130) + [0x81, 0],
        [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0], [0x89, 126, 0, 1, 0], [0x88, 2, 3, 0xED], [0x83, 0],
        [0xC1, 7, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0xC1, 5, 0xF2, 0, 0x11, 0, 0, 0xC2, 1, 0],
        [0x41, 3, 0xF2, 0x48, 0xCD, 0x89, 0, 0x80, 4, 0xC9, 0xC9, 7, 0, 0x81, 1, 0x61],
        [
            0xC1, 8, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0, 0xC2, 0, 0xC1, 7, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 7,
            0,
        ],
        [0xC1, 13, 0xF2, 0x48, 5, 0, 0, 0, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 7, 0],
        // 500 and 5,000 bytes of zero.
        [0xC2, 8, 0x62, 0x60, 0x18, 0x05, 0x23, 0x0D, 0, 0],
        [0xC2, 22, 0xEC, 0xC1, 0x31, 1, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 0x0A, 0x3F, 0xA0]
            + [0, 0, 0, 0, 0x80, 0xB7, 1],
    ]

    /// The same with masks; of zeros in every second frame, so that mutations of the payload mean the same
    /// as without.
    private static func masked(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        var masked: [UInt8] = []
        var key: [UInt8] = [0, 0, 0, 0]
        while let first = rest.popFirst(), let second = rest.popFirst() {
            let extended = second == 126 ? 2 : second == 127 ? 8 : 0
            let length = rest.prefix(extended)
            rest = rest.dropFirst(extended)
            let count = extended == 0 ? Int(second) : length.reduce(0) { $0 << 8 | Int($1) }
            masked += [first, second | 0x80] + length + key
            masked += rest.prefix(count).enumerated().map { $1 ^ key[$0 % 4] }
            rest = rest.dropFirst(count)
            key = key[0] == 0 ? [0x37, 0xFA, 0x21, 0x3D] : [0, 0, 0, 0]
        }
        return masked
    }
}
