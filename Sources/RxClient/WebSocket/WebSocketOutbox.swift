import RxHTTP
import RxLite
import RxWebSocket
import Synchronization

/// The waiting messages of a sink, and the connection that takes them.
final class WebSocketOutbox: Sendable {
    enum Content: Sendable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case close(WebSocketCloseCode?, reason: String)

        var isClose: Bool { if case .close = self { true } else { false } }
    }

    /// A waiting message, and the subscriber to its result.
    struct Entry: Sendable {
        let content: Content
        let observer: Observer<Void, NetworkError>

        func succeed() {
            observer.scope.enter { [observer] in
                observer.next(())
                if observer.scope.isOpen { observer.finish() }
            }
        }

        func fail(_ error: NetworkError) {
            observer.scope.enter { [observer] in observer.fail(error) }
        }

        func failAsClosed() {
            fail(NetworkError(.webSocketClosed, "the WebSocket ended before the message was sent"))
        }
    }

    fileprivate struct Contents {
        /// Whether a close frame has been sent for the subscription.
        var hasClosed = false
        /// Whether a close frame waits, after which nothing can be sent.
        var isClosing = false
        /// Whether the last WebSocket has ended, and no other one uses the sink yet.
        var hasEnded = false
        var waiting = WaitingList<Entry>()
        /// The number of waiting entries.
        var count = 0
        /// Whether a subscription uses the sink.
        var isTaken = false
        /// The open connection, which takes the entries.
        var taker: ObjectIdentifier?
        /// Makes the open connection take entries.
        var wake: (@Sendable () -> Void)?
        /// Whether the connection has been told, and has not begun to take entries.
        var isAwake = false
    }

    let limit: Int
    let overflow: WebSocketSink.Overflow
    let state = State(WebSocketState.idle)
    /// Ends the subscription.
    let stop = Signal<Void>()
    private let contents = Mutex(Contents())

    init(limit: Int, overflow: WebSocketSink.Overflow) {
        self.limit = max(1, limit)
        self.overflow = overflow
    }

    // MARK: Senders

    func send(_ content: Content) -> Observable<Void, NetworkError> {
        Observable { [self] observer in
            guard observer.scope.isOpen else { return }
            add(Entry(content: content, observer: observer))
        }
    }

    private func add(_ entry: Entry) {
        switch contents.withLock({ $0.admit(entry, upTo: limit, overflow) }) {
        case .waits(let ticket, let dropped, let wake):
            entry.observer.scope.onClose { self.withdraw(ticket, isClose: entry.content.isClose) }
            dropped?.fail(full)
            wake?()
        case .full: entry.fail(full)
        case .closed: entry.failAsClosed()
        case .closes(let ends):
            entry.succeed()
            if ends { stop.send(()) }
        }
    }

    private var full: NetworkError {
        NetworkError(.outboxFull, "the sink is full: \(limit) messages are waiting")
    }

    private func withdraw(_ ticket: WaitingList<Entry>.Ticket, isClose: Bool) {
        contents.withLock { contents in
            guard contents.waiting.remove(ticket) else { return }
            contents.count -= 1
            if isClose { contents.isClosing = false }
        }
    }

    // MARK: The subscription

    /// Reserves the sink for a subscription; false if another one has it.
    func take() -> Bool {
        contents.withLock { contents in
            guard !contents.isTaken else { return false }
            contents.isTaken = true
            contents.hasEnded = false
            return true
        }
    }

    /// Gives the sink back, and fails what waits.
    func release() {
        let rest = contents.withLock { contents in
            contents.isTaken = false
            contents.hasEnded = true
            contents.hasClosed = false
            contents.isClosing = false
            contents.taker = nil
            contents.wake = nil
            contents.count = 0
            // The list itself stays, since the tickets of these entries must not be those of later ones.
            var rest: [Entry] = []
            while let entry = contents.waiting.popFirst() { rest.append(entry) }
            return rest
        }
        state.value = .idle
        for entry in rest { entry.failAsClosed() }
    }

    /// Sets the connection that takes the messages.
    func connect(_ channel: WebSocketChannel, wake: @escaping @Sendable () -> Void) {
        contents.withLock { contents in
            contents.taker = ObjectIdentifier(channel)
            contents.wake = wake
            contents.isAwake = false
        }
    }

    /// The connection takes no more messages. One that has been replaced changes nothing.
    func disconnect(_ channel: WebSocketChannel) {
        contents.withLock { contents in
            guard contents.taker == ObjectIdentifier(channel) else { return }
            contents.taker = nil
            contents.wake = nil
        }
    }

    /// Notes that a close frame has been sent, so that no connection follows.
    func noteClosing() { contents.withLock { $0.hasClosed = true } }

    var hasClosed: Bool { contents.withLock { $0.hasClosed } }

    /// The connection will take entries soon, without being woken.
    func noteWaking(of channel: WebSocketChannel) {
        contents.withLock { if $0.taker == ObjectIdentifier(channel) { $0.isAwake = true } }
    }

    /// The connection begins to take entries; entries from now on wake it again.
    func noteTaking(by channel: WebSocketChannel) {
        contents.withLock { if $0.taker == ObjectIdentifier(channel) { $0.isAwake = false } }
    }

    /// The next entry for a connection; `nil` for one that has been replaced.
    func next(for channel: WebSocketChannel) -> Entry? {
        contents.withLock { contents in
            guard contents.taker == ObjectIdentifier(channel), let entry = contents.waiting.popFirst() else {
                return nil
            }
            contents.count -= 1
            return entry
        }
    }
}

extension WebSocketOutbox.Contents {
    /// The outcome of adding an entry.
    fileprivate enum Admission {
        /// It waits for its turn.
        ///
        /// - `dropped`: the entry that made room for it.
        /// - `wake`: makes the connection take entries; `nil` if there is none, or if it has been told already.
        case waits(
            WaitingList<WebSocketOutbox.Entry>.Ticket, dropped: WebSocketOutbox.Entry?,
            wake: (@Sendable () -> Void)?)
        /// There is no room.
        case full
        /// The WebSocket has ended, or a close frame waits.
        case closed
        /// There is no connection to close; `ends` if there is a subscription to end.
        case closes(ends: Bool)
    }

    fileprivate mutating func admit(
        _ entry: WebSocketOutbox.Entry, upTo limit: Int, _ overflow: WebSocketSink.Overflow
    ) -> Admission {
        if entry.content.isClose {
            if isClosing || hasEnded { return .closes(ends: false) }
            if taker == nil, waiting.isEmpty {
                hasClosed = isTaken
                return .closes(ends: isTaken)
            }
            isClosing = true
            return enqueue(entry, dropped: nil)
        }
        if isClosing || hasEnded { return .closed }
        guard count >= limit else { return enqueue(entry, dropped: nil) }
        guard overflow == .dropOldest else { return .full }
        count -= 1
        return enqueue(entry, dropped: waiting.popFirst())
    }

    private mutating func enqueue(
        _ entry: WebSocketOutbox.Entry, dropped: WebSocketOutbox.Entry?
    ) -> Admission {
        count += 1
        let ticket = waiting.append(entry)
        guard !isAwake, let wake else { return .waits(ticket, dropped: dropped, wake: nil) }
        isAwake = true
        return .waits(ticket, dropped: dropped, wake: wake)
    }
}
