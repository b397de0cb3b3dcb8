import RxHTTP
import RxLite
import RxWebSocket
import Synchronization

/// The waiting messages of a sink, and the connection that takes them.
final class WebSocketOutbox: Sendable {
    enum Content: Sendable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case close(WebSocketCloseCode, reason: String)
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
    }

    fileprivate struct Contents {
        /// Whether a close frame has been sent for the subscription.
        var hasClosed = false
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
        let admission = contents.withLock { $0.admit(entry, upTo: limit, overflow) }
        if let ticket = admission.ticket { entry.observer.scope.onClose { self.withdraw(ticket) } }
        admission.dropped?.fail(NetworkError(.outboxFull, "\(limit) messages wait for the WebSocket already"))
        admission.wake?()
    }

    private func withdraw(_ ticket: WaitingList<Entry>.Ticket) {
        contents.withLock { contents in
            if contents.waiting.remove(ticket) { contents.count -= 1 }
        }
    }

    // MARK: The subscription

    /// Reserves the sink for a subscription; false if another one has it.
    func take() -> Bool {
        contents.withLock { contents in
            defer { contents.isTaken = true }
            return !contents.isTaken
        }
    }

    /// Gives the sink back, and fails what waits.
    func release() {
        let rest = contents.withLock { contents in
            contents.isTaken = false
            contents.hasClosed = false
            contents.taker = nil
            contents.wake = nil
            contents.count = 0
            defer { contents.waiting = WaitingList() }
            return contents.waiting
        }
        var waiting = rest
        while let entry = waiting.popFirst() {
            entry.fail(NetworkError(.webSocketClosed, "the WebSocket ended before the message was sent"))
        }
        state.value = .idle
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
    struct Admission {
        /// The place of the entry, unless it is dropped itself.
        var ticket: WaitingList<WebSocketOutbox.Entry>.Ticket?
        /// The entry for which there is no room.
        var dropped: WebSocketOutbox.Entry?
        /// Makes the connection take entries; `nil` if there is none, or if it has been told already.
        var wake: (@Sendable () -> Void)?
    }

    fileprivate mutating func admit(
        _ entry: WebSocketOutbox.Entry, upTo limit: Int, _ overflow: WebSocketSink.Overflow
    ) -> Admission {
        var admission = Admission()
        if count >= limit {
            guard overflow == .dropOldest else { return Admission(dropped: entry) }
            admission.dropped = waiting.popFirst()
            count -= 1
        }
        count += 1
        admission.ticket = waiting.append(entry)
        guard !isAwake, let wake else { return admission }
        isAwake = true
        admission.wake = wake
        return admission
    }
}
