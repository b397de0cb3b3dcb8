#if Fleet
import RxHTTP

/// A command that waits for its reply, or to be sent.
class RedisCall: @unchecked Sendable {
    // Unchecked, without exclusivity checks: the variables are accessed only inside the lane of the client that has the
    // call, which is serial.

    /// The meaning of the reply.
    enum Kind: Sendable, Equatable {
        /// The reply is the result.
        case command
        /// The reply is an entry, read where it has arrived.
        case read
        case handshake(RedisHandshake.Step)
        /// A push with the name of the channel takes the place of the reply; only a refusal is one.
        case subscribe(channel: String, number: Int)
        case unsubscribe(channel: String)
    }

    final let kind: Kind
    /// `nil` once it has been sent.
    @safe @exclusivity(unchecked) private final var command: RedisCommand?
    /// When it was sent, by the clock of the connection.
    @safe @exclusivity(unchecked) final var sentAt = Duration.zero

    init(_ command: RedisCommand?, _ kind: Kind = .command) {
        self.command = command
        self.kind = kind
    }

    /// Appends the form in which the command is sent, which is not needed after that.
    ///
    /// - Parameter prefix: the beginning of the keys of entries.
    func append(to bytes: inout [UInt8], below prefix: borrowing [UInt8]) {
        if let command { bytes += command.bytes }
        command = nil
    }

    /// Takes the reply, or why there is none. Called once, inside the lane of the client. Does nothing unless overridden.
    func complete(_ result: consuming Result<RESPValue, NetworkError>) {}

    /// Takes the reply to a ``Kind/read`` if it is a string; all else goes to ``complete(_:)``.
    func complete(with entry: Result<SharedEntry, NetworkError>) {}
}

/// A command with a closure that takes the reply.
final class RedisCallback: RedisCall, @unchecked Sendable {
    // Unchecked: a constant, besides what the class above guards.
    private let take: @Sendable (Result<RESPValue, NetworkError>) -> Void

    init(_ command: RedisCommand, _ take: @escaping @Sendable (Result<RESPValue, NetworkError>) -> Void) {
        self.take = take
        super.init(command)
    }

    override func complete(_ result: consuming Result<RESPValue, NetworkError>) { take(result) }
}

/// The waits between attempts to connect: doubled with each failure, with jitter, so that the processes of a fleet do not
/// come back together.
struct RedisBackoff: Sendable {
    // Redis.md and the documentation of ``RedisStore`` state these.
    private static let first = Duration.milliseconds(50)
    private static let longest = Duration.seconds(5)

    private var failures = 0

    /// The wait before the next attempt.
    ///
    /// - Parameters:
    ///   - isLasting: whether another attempt will fail in the same way; see ``RedisErrors/isLasting(_:)``.
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
