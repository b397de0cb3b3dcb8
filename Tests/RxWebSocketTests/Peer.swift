@testable import RxWebSocket

/// One connection under test, with all that it has emitted and replied.
struct Peer: ~Copyable {
    var state: WebSocketConnectionState
    var inputs: [WebSocketInput] = []
    var output: [UInt8] = []

    init(
        _ role: WebSocketConnectionState.Role = .client, limits: WebSocketLimits = WebSocketLimits(),
        deflate: PermessageDeflate? = nil, frameSize: Int = .max,
        random: any RandomNumberGenerator & Sendable = Keys()
    ) {
        state = WebSocketConnectionState(
            role: role, limits: limits, deflate: deflate, frameSize: frameSize, random: random)
    }

    /// Feeds bytes in pieces of `size`.
    mutating func receive(_ bytes: [UInt8], by size: Int = .max) {
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count - start, size) + start
            receivePiece(Array(bytes[start..<end]))
            start = end
        }
    }

    private mutating func receivePiece(_ piece: [UInt8]) {
        var found: [WebSocketInput] = []
        state.receive(piece, replies: &output) { found.append($0) }
        inputs += found
    }

    /// The inputs and replies so far, for comparisons.
    var outcome: Outcome { Outcome(inputs: inputs, output: output, phase: state.phase) }
}

struct Outcome: Equatable {
    var inputs: [WebSocketInput]
    var output: [UInt8]
    var phase: WebSocketConnectionState.Phase

    init(inputs: [WebSocketInput], output: [UInt8], phase: WebSocketConnectionState.Phase) {
        self.inputs = inputs
        self.output = output
        self.phase = phase
    }

    /// The outcome of bytes that arrive in pieces of `size`.
    init(
        of bytes: [UInt8], by size: Int = .max, _ role: WebSocketConnectionState.Role = .client,
        limits: WebSocketLimits = WebSocketLimits(), deflate: PermessageDeflate? = nil
    ) {
        var peer = Peer(role, limits: limits, deflate: deflate)
        peer.receive(bytes, by: size)
        self = peer.outcome
    }

    var violation: WebSocketViolation? {
        guard case .violation(let violation) = inputs.last else { return nil }
        return violation
    }
}

/// The same masking key each time: that of the RFC's examples.
struct Keys: RandomNumberGenerator {
    func next() -> UInt64 { 0x3D21_FA37 }
}

/// Numbers that are the same in every run.
struct Steps: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
