internal import RxLoop

/// The life of one of curl's sockets, as rules only: what happened goes in, what to do about it comes out. It
/// touches neither curl nor the loop; ``SocketTable`` performs what it says.
///
///     foreign → opened (or connecting → opened) → kept → foreign
struct SocketState: Equatable {
    /// How far the socket has come.
    enum Stage: Equatable {
        /// Closed, or opened by curl itself, as for a look-up: nobody says when it is closed.
        case foreign
        /// Opened through the transport, and closed through it if a connection comes about. One that is not connected
        /// libcurl before 8.2 closes without a word (`cf_socket_close`).
        case opened
        /// Opened through the transport for a transfer that is to be told if there is no connection
        /// (``LibcurlFault/waitsAfterRefusals``).
        case connecting
        /// A transfer has come to its end on it: its poll stays when curl waits for nothing. `isShared` if many
        /// transfers may be on it at a time, as over HTTP/2, where a server may send at any time.
        case kept(isShared: Bool)
    }

    private(set) var stage = Stage.foreign
    /// The events that curl waits for.
    private(set) var wanted: Poll.Events = []
    /// The events that the loop reports; `nil` without a poll.
    private(set) var polled: Poll.Events?
    /// How often in a row it was writable and curl took nothing to write.
    private var idleWrites = 0

    /// How many times in a row there may be nothing to write: more than it takes to send what curl holds already,
    /// 64 KiB, when a socket has room for a few KiB at a time.
    static var patience: Int { 32 }

    // MARK: Its beginning and its end

    /// The state of a socket that curl opens through the transport.
    ///
    /// - Parameter isAwaited: whether a transfer is to be told if there is no connection.
    static func opened(isAwaited: Bool) -> SocketState {
        var state = SocketState()
        state.stage = isAwaited ? .connecting : .opened
        return state
    }

    /// There is no connection, or another one is tried.
    ///
    /// - Returns: whether the transfer is to be told.
    mutating func giveUpConnecting() -> Bool {
        guard stage == .connecting else { return false }
        stage = .opened
        return true
    }

    /// A transfer came to its end on it.
    mutating func keep(isShared: Bool) -> PollAction {
        guard stage != .foreign else { return .nothing }
        stage = .kept(isShared: isShared)
        return isPolling ? .nothing : poll(.readable)
    }

    // MARK: What curl wants

    /// curl waits for `events`.
    mutating func want(_ events: Poll.Events) -> PollAction {
        wanted = events
        idleWrites = 0
        return poll(events)
    }

    /// curl waits for nothing.
    ///
    /// The poll of a connection that goes idle stays: it mostly is wanted again before anything happens on it, and
    /// taking it out and putting it in are two system calls each. Only such a socket can be left there as is sure to
    /// be closed through the transport: the loop must hear of it before its number is used anew, and libuv ends the
    /// process when it is to watch a closed one.
    mutating func wantNothing() -> PollAction {
        wanted = []
        if case .kept = stage { return .nothing }
        polled = nil
        return .close
    }

    // MARK: What the loop says

    /// The loop reports `events`, or that it could not watch the socket; libuv has stopped the poll then.
    mutating func receive(_ events: Poll.Events, isFailed: Bool) -> Report {
        guard !wanted.isEmpty else {
            polled = []
            return .stop(isUnasked: stage == .kept(isShared: false))
        }
        guard isFailed else { return .tell(events) }
        polled = []
        // Whether it was the peer, and whether there still is something to read, curl finds out by reading.
        return .tell(wanted)
    }

    /// curl has been told that polling failed.
    mutating func restart() -> PollAction {
        polled == nil || wanted.isEmpty || isPolling ? .nothing : poll(wanted)
    }

    /// There can be no poll.
    mutating func cannotPoll() { polled = nil }

    // MARK: Idle writes

    /// The socket was writable and nothing else.
    ///
    /// - Parameter isIdle: whether curl asked for no content to write.
    mutating func noteWrite(isIdle: Bool) -> WriteAction {
        guard polled?.contains(.writable) == true else { return .nothing }
        idleWrites = isIdle ? idleWrites + 1 : 0
        guard idleWrites >= Self.patience else { return .nothing }
        idleWrites = 0
        let rest = wanted.subtracting(.writable)
        guard rest.isEmpty else { return .mute(poll(rest)) }
        polled = []
        return .mute(.stop)
    }

    /// There may be something to write again.
    mutating func unmute() -> PollAction { wanted.isEmpty ? .nothing : poll(wanted) }

    // MARK: The poll

    /// Whether the loop reports anything.
    private var isPolling: Bool { polled.map { !$0.isEmpty } ?? false }

    private mutating func poll(_ events: Poll.Events) -> PollAction {
        guard (polled ?? []) != events else { return .nothing }
        polled = events
        return .report(events)
    }
}
