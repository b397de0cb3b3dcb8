#if Fleet
import RxHTTP

/// A command that waits for its reply, or to be sent.
struct RedisCall: Sendable {
    /// The meaning of the reply.
    enum Kind: Sendable, Equatable {
        /// The reply is the result.
        case command
        case handshake(RedisHandshake.Step)
        /// A push with the name of the channel takes the place of the reply; only a refusal is one.
        case subscribe(channel: String, number: Int)
        case unsubscribe(channel: String)
    }

    let kind: Kind
    /// `nil` once it has been sent.
    var command: RedisCommand?
    /// When it was sent, by the clock of the connection.
    var sentAt = Duration.zero
    /// Takes the reply, or why there is none. Called once.
    let complete: @Sendable (Result<RESPValue, NetworkError>) -> Void

    init(
        _ command: RedisCommand?, _ kind: Kind = .command,
        complete: @escaping @Sendable (Result<RESPValue, NetworkError>) -> Void = { _ in }
    ) {
        self.command = command
        self.kind = kind
        self.complete = complete
    }
}

/// Calls in the order in which they are sent.
struct RedisQueue: Sendable {
    private var calls: [RedisCall?] = []
    private var start = 0

    var count: Int { calls.count - start }
    var isEmpty: Bool { count == 0 }
    var first: RedisCall? { isEmpty ? nil : calls[start] }

    mutating func append(_ call: RedisCall) { calls.append(call) }

    mutating func popFirst() -> RedisCall? {
        guard !isEmpty else { return nil }
        let call = calls[start]
        calls[start] = nil
        start += 1
        if start == calls.count {
            calls.removeAll(keepingCapacity: calls.count <= 1024)
            start = 0
        } else if start > 256, start > calls.count / 2 {
            calls.removeFirst(start)
            start = 0
        }
        return call
    }

    mutating func removeAll() -> [RedisCall] {
        let rest = calls[start...].compactMap { $0 }
        (calls, start) = ([], 0)
        return rest
    }
}

/// The waits between attempts to connect: doubled with each failure, with jitter, so that the processes of a fleet do not
/// come back together.
struct RedisBackoff: Sendable {
    private static let first = Duration.milliseconds(50)
    private static let longest = Duration.seconds(5)

    private var failures = 0

    /// The wait before the next attempt.
    ///
    /// - Parameters:
    ///   - isLasting: whether another attempt will fail in the same way until somebody changes the server.
    ///   - fraction: a random number from 0 up to 1.
    mutating func next(isLasting: Bool, fraction: Double) -> Duration {
        let wait = isLasting ? Self.longest : min(Self.first * (1 << min(failures, 10)), Self.longest)
        failures += 1
        return wait * (0.5 + 0.5 * fraction)
    }

    /// The connection has been of use.
    mutating func reset() { failures = 0 }
}
#endif
