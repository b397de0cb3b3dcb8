/// The time limits of an attempt's phases, and of the whole call. `nil` means no limit.
///
/// The phases follow each other: queue, connect, then sending and receiving, each with ``idle`` while bytes
/// move and with ``firstByte`` in between. ``attempt`` and ``total`` span several phases. Each limit has a
/// separate error code and is named in the error's message. All are measured by the clock of the transport's
/// scheduler. No limit expires early; ``firstByte`` and ``idle`` may expire up to an eighth late, and cost
/// nothing until then.
public struct Timeouts: Sendable, Hashable {
    /// The wait for a turn if the client limits its requests, and for a free connection if connections are
    /// limited (``NetworkError/Code/queueTimeout``). Default none.
    public var queue: Duration? {
        get { limits.queue.duration }
        set { limits.queue = Limit(newValue) }
    }
    /// From the queue to an open connection, including name resolution, proxies and TLS
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
    /// Silence within the request or the response (``NetworkError/Code/idleTimeout``): no byte of the body sent, none
    /// of head or body received. The limit is suspended while the consumer pauses the stream, or while a streamed
    /// request body has nothing to send. Default 20 s; event streams of a client have 60 s.
    public var idle: Duration? {
        get { limits.idle.duration }
        set { limits.idle = Limit(newValue) }
    }
    /// From the queue to the last byte of the response (``NetworkError/Code/attemptTimeout``). Default none.
    public var attempt: Duration? {
        get { limits.attempt.duration }
        set { limits.attempt = Limit(newValue) }
    }
    /// From the subscription to the end of the call, including queue, retries, waits and redirects
    /// (``NetworkError/Code/totalTimeout``). A client enforces it; a transport alone does not. Default none.
    public var total: Duration? {
        get { limits.total.duration }
        set { limits.total = Limit(newValue) }
    }

    /// Creates a set of limits. The documentation of the properties names the defaults.
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

    /// The limits as numbers, for the transport.
    package private(set) var limits: Limits

    /// All limits in nanoseconds.
    package struct Limits: Sendable, Hashable {
        package fileprivate(set) var queue, connect, firstByte, idle, attempt, total: Limit
    }

    /// A time in nanoseconds, at least 1. `Int64.max`, 292 years, stands for no limit: `TransferClock` of RxCurl adds
    /// limits to times, which must not overflow.
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
