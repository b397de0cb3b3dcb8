/// How long each phase of one attempt may take. `nil` is no limit.
///
/// They follow one another: queue, connect, then either direction with ``idle`` while bytes move, and
/// ``firstByte`` in between. ``attempt`` and ``total`` go across them. Each has its own code in the error that it
/// causes, and is named in the message. All are measured by the clock of the transport's scheduler. A limit is
/// never found out too early, and those of ``firstByte`` and ``idle`` up to an eighth too late; short of that
/// they cost nothing.
public struct Timeouts: Sendable, Hashable {
    /// Waiting for its turn where a client has limits, and for a free connection where there is a limit of these
    /// (``NetworkError/Code/queueTimeout``). Default none.
    public var queue: Duration? {
        get { limits.queue.duration }
        set { limits.queue = Limit(newValue) }
    }
    /// From the queue to an open connection: name resolution, proxies and TLS included
    /// (``NetworkError/Code/connectTimeout``). Default 10 s.
    public var connect: Duration? {
        get { limits.connect.duration }
        set { limits.connect = Limit(newValue) }
    }
    /// From the request's last byte to the response's first (``NetworkError/Code/firstByteTimeout``). An informational
    /// response, such as 102, restarts it. Default 60 s.
    public var firstByte: Duration? {
        get { limits.firstByte.duration }
        set { limits.firstByte = Limit(newValue) }
    }
    /// Silence in the middle of the request or of the response (``NetworkError/Code/idleTimeout``): no byte of the body
    /// sent, none of head or body received. While the consumer pauses the stream no time passes, nor while a streamed
    /// request body has nothing to send. Default 20 s.
    public var idle: Duration? {
        get { limits.idle.duration }
        set { limits.idle = Limit(newValue) }
    }
    /// From the queue to the last byte of the response (``NetworkError/Code/attemptTimeout``). Default none.
    public var attempt: Duration? {
        get { limits.attempt.duration }
        set { limits.attempt = Limit(newValue) }
    }
    /// From the subscription to the end of everything, queue, retries, waits and redirects included
    /// (``NetworkError/Code/totalTimeout``). A client keeps it; a transport alone does not. Default none.
    public var total: Duration? {
        get { limits.total.duration }
        set { limits.total = Limit(newValue) }
    }

    /// Creates a set of limits.
    public init(
        queue: Duration? = nil, connect: Duration? = .seconds(10), firstByte: Duration? = .seconds(60),
        idle: Duration? = .seconds(20), attempt: Duration? = nil, total: Duration? = nil
    ) {
        limits = Limits(
            queue: Limit(queue), connect: Limit(connect), firstByte: Limit(firstByte), idle: Limit(idle),
            attempt: Limit(attempt), total: Limit(total))
    }

    /// No limits at all.
    public static let unlimited = Timeouts(connect: nil, firstByte: nil, idle: nil)

    /// The same as numbers, for the transport.
    package private(set) var limits: Limits

    /// All limits in nanoseconds.
    package struct Limits: Sendable, Hashable {
        package fileprivate(set) var queue, connect, firstByte, idle, attempt, total: Limit
    }

    /// A time in nanoseconds: at least 1, at most 292 years, which stand for none.
    package struct Limit: Sendable, Hashable {
        package let nanoseconds: UInt64

        package static let none = Limit(nil)

        package init(_ duration: Duration?) {
            guard let duration, duration < .nanoseconds(Int64.max) else {
                nanoseconds = UInt64(Int64.max)
                return
            }
            // In this range neither the product nor the sum overflows.
            let (seconds, attoseconds) = max(duration, .nanoseconds(1)).components
            let rest = attoseconds / 1_000_000_000 + (attoseconds % 1_000_000_000 > 0 ? 1 : 0)
            nanoseconds = UInt64(seconds * 1_000_000_000 + rest)
        }

        package var isNone: Bool { nanoseconds == UInt64(Int64.max) }

        package var duration: Duration? { isNone ? nil : .nanoseconds(Int64(clamping: nanoseconds)) }
    }
}
