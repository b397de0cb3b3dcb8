import RxLoop

/// The state machine of one of curl's sockets: its methods take events and return actions. It calls neither
/// curl nor the loop; ``SocketTable`` performs the actions.
///
///     foreign → opened (or connecting → opened) → kept → foreign
struct SocketState: Equatable {
    /// The stages of a socket.
    enum Stage: Equatable {
        /// Closed, or opened by curl itself, as for a lookup: nothing reports when it is closed.
        case foreign
        /// Opened through the transport, and closed through it if it gets connected. libcurl before 8.2
        /// closes a socket that is not connected without a callback (`cf_socket_close`).
        case opened
        /// Opened through the transport for a transfer that must be told if the connection fails
        /// (``LibcurlFault/waitsAfterRefusals``).
        case connecting
        /// A transfer has ended on it: its poll stays when curl waits for nothing. `isShared` if it carries
        /// many transfers at a time, as over HTTP/2, where a server may send at any time.
        case kept(isShared: Bool)
    }

    private(set) var stage = Stage.foreign
    /// The events that curl waits for.
    private(set) var wanted: Poll.Events = []
    /// The events that the loop reports; `nil` without a poll.
    private(set) var polled: Poll.Events?
    /// How often in a row the socket was writable without curl asking for content to write.
    private var idleWrites = 0

    /// The maximum of ``idleWrites``: as many as it takes to send the bytes that curl already holds, up to 128 KiB of
    /// streamed content (``EasyHandle``), if the socket has room for 4 KiB at a time.
    static var patience: Int { 32 }

    // MARK: - Beginning and end

    /// The state of a socket that curl opens through the transport.
    ///
    /// - Parameter isAwaited: whether a transfer must be told if the connection fails.
    static func opened(isAwaited: Bool) -> SocketState {
        var state = SocketState()
        state.stage = isAwaited ? .connecting : .opened
        return state
    }

    /// Records that the connection failed, or that another one is tried.
    ///
    /// - Returns: whether the transfer must be told.
    mutating func giveUpConnecting() -> Bool {
        guard stage == .connecting else { return false }
        stage = .opened
        return true
    }

    /// Records that a transfer has ended on the socket.
    mutating func keep(isShared: Bool) -> PollAction {
        guard stage != .foreign else { return .nothing }
        stage = .kept(isShared: isShared)
        return isPolling ? .nothing : poll(.readable)
    }

    // MARK: - Events from curl

    /// Records that curl waits for `events`.
    mutating func want(_ events: Poll.Events) -> PollAction {
        wanted = events
        idleWrites = 0
        return poll(events)
    }

    /// Records that curl waits for nothing.
    ///
    /// The poll of a connection that becomes idle stays: usually the connection is used again before anything
    /// happens on it, and removing and adding the socket are two system calls each. This is safe only for
    /// sockets that are certain to be closed through the transport: the loop must be told before the
    /// descriptor is reused, and libuv aborts the process when it has to watch a closed one.
    mutating func wantNothing() -> PollAction {
        wanted = Poll.Events()
        if case .kept = stage { return .nothing }
        polled = nil
        return .close
    }

    // MARK: - Events from the loop

    /// Takes events that the loop reports, or its failure to watch the socket, after which libuv has stopped
    /// the poll.
    mutating func receive(_ events: Poll.Events, isFailed: Bool) -> Report {
        guard !wanted.isEmpty else {
            polled = []
            return .stop(isUnasked: stage == .kept(isShared: false))
        }
        guard isFailed else { return .tell(events) }
        polled = []
        // By reading, curl finds out whether the peer caused it and whether there are still bytes to read.
        return .tell(wanted)
    }

    /// Watches the socket again after curl has been told that polling failed.
    mutating func restart() -> PollAction {
        polled == nil || wanted.isEmpty || isPolling ? .nothing : poll(wanted)
    }

    /// Records that there can be no poll.
    mutating func cannotPoll() { polled = nil }

    // MARK: - Idle writes

    /// Records that the socket was writable and nothing else.
    ///
    /// - Parameter isIdle: whether curl did not ask for content to write.
    mutating func recordWrite(isIdle: Bool) -> WriteAction {
        guard polled?.contains(.writable) == true else { return .nothing }
        idleWrites = isIdle ? idleWrites + 1 : 0
        guard idleWrites >= Self.patience else { return .nothing }
        idleWrites = 0
        let rest = wanted.subtracting(.writable)
        guard rest.isEmpty else { return .mute(poll(rest)) }
        polled = []
        return .mute(.stop)
    }

    /// Watches for writability again, because there may be something to write.
    mutating func unmute() -> PollAction { wanted.isEmpty ? .nothing : poll(wanted) }

    // MARK: - The poll

    /// Whether the loop reports any events.
    private var isPolling: Bool { polled.map { !$0.isEmpty } ?? false }

    private mutating func poll(_ events: Poll.Events) -> PollAction {
        guard (polled ?? Poll.Events()) != events else { return .nothing }
        polled = events
        return .report(events)
    }
}

extension SocketState {
    /// The actions on the poll.
    enum PollAction: Equatable {
        case nothing
        /// Report these events from now on, with a new poll if there is none.
        case report(Poll.Events)
        /// Report nothing, but keep the poll.
        case stop
        /// Close the poll, if there is one.
        case close
    }

    /// The actions for a report of the loop.
    enum Report: Equatable {
        /// curl waits for nothing, so stop reporting. `isUnasked` if the connection is idle, carries one
        /// transfer at a time, and unexpected bytes or the end of the connection have arrived.
        case stop(isUnasked: Bool)
        /// Tell curl that the socket is ready for these events.
        case tell(Poll.Events)
    }

    /// The actions when the socket is writable.
    enum WriteAction: Equatable {
        case nothing
        /// Stop watching for writability until something else happens: bytes arrive, which may open the
        /// server's window; there is new content or another transfer; or a timer of curl has fired.
        case mute(PollAction)
    }
}
