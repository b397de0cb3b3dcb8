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
        /// Whether this side has closed the subscription: a close frame has been sent, or `close` came without a
        /// connection. No reconnection follows.
        var isClosed = false
        /// Whether a close frame waits, after which nothing can be sent.
        var isClosing = false
        /// Whether the last WebSocket has ended, and no other one uses the sink yet.
        var hasEnded = false
        var waiting = WaitingList<Entry>()
        /// The number of waiting entries.
        var count = 0
        /// The subscription that uses the sink.
        var outlet: WebSocketOutlet?
        /// The state of its connection. Whoever changes it calls ``showState()`` after unlocking.
        var state = WebSocketState.idle
        /// The open connection, which takes the entries.
        var connection: ObjectIdentifier?
        /// Makes the open connection take entries.
        var wake: (@Sendable () -> Void)?
        /// Whether the connection has been told, and has not begun to take entries.
        var isAwake = false
    }

    let limit: Int
    let dropsOldest: Bool
    let state = MutableProperty(WebSocketState.idle)
    fileprivate let contents = Mutex(Contents())

    init(limit: Int, dropsOldest: Bool) {
        self.limit = max(1, limit)
        self.dropsOldest = dropsOldest
    }

    // MARK: - Senders

    func send(_ content: Content) -> Observable<Void, NetworkError> {
        Observable { [self] observer in
            guard observer.scope.isOpen else { return }
            add(Entry(content: content, observer: observer))
        }
    }

    private func add(_ entry: Entry) {
        switch contents.withLock({ $0.admit(entry, upTo: limit, dropsOldest: dropsOldest) }) {
        case .waits(let ticket, let dropped, let wake):
            entry.observer.scope.onClose { self.withdraw(ticket, isClose: entry.content.isClose) }
            dropped?.fail(full)
            wake?()
        case .full: entry.fail(full)
        case .closed: entry.failAsClosed()
        case .closes(let outlet):
            entry.succeed()
            outlet?.stop.send(())
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

    // MARK: - The subscription

    /// Reserves the sink for a subscription; `nil` if another one has it. A subscription whose account is gone has it
    /// no more, even if it has not noticed yet: what it has left waiting fails.
    ///
    /// - Parameter account: the account of the subscription.
    func take(for account: SessionAccount?) -> WebSocketOutlet? {
        let former = contents.withLock { $0.outlet }
        let departed = former?.account.flatMap { $0.isCurrent ? nil : $0 }
        let outlet = WebSocketOutlet(self, account)
        let rest = contents.withLock { contents -> [Entry]? in
            guard contents.outlet == nil || departed != nil && contents.outlet === former else { return nil }
            let rest = contents.outlet == nil ? [] : contents.removeAll()
            contents.outlet = outlet
            contents.hasEnded = false
            return rest
        }
        guard let rest else { return nil }
        if let departed { for entry in rest { entry.fail(departed.departure()) } }
        return outlet
    }

    /// Takes the sink from a subscription, unless another one has it, and fails what waits.
    ///
    /// - Parameter error: the error for what waits, if the subscription has ended by it.
    fileprivate func release(_ outlet: WebSocketOutlet, because error: NetworkError?) {
        let rest = contents.withLock { contents -> [Entry]? in
            guard contents.outlet === outlet else { return nil }
            contents.outlet = nil
            contents.state = .idle
            contents.hasEnded = true
            return contents.removeAll()
        }
        guard let rest else { return }
        showState()
        for entry in rest {
            if let error { entry.fail(error) } else { entry.failAsClosed() }
        }
    }

    fileprivate func showState() {
        // Reads the state again, so that the last of several threads publishes the latest one.
        state.update { shown in shown = contents.withLock { $0.state } }
    }

    /// The connection takes no more messages. One that has been replaced changes nothing.
    func disconnect(_ channel: WebSocketChannel) {
        contents.withLock { contents in
            guard contents.connection == ObjectIdentifier(channel) else { return }
            contents.connection = nil
            contents.wake = nil
        }
    }

    /// The connection will take entries soon, without being woken.
    func recordWaking(of channel: WebSocketChannel) {
        contents.withLock { if $0.connection == ObjectIdentifier(channel) { $0.isAwake = true } }
    }

    /// The connection begins to take entries; entries from now on wake it again.
    func recordTaking(by channel: WebSocketChannel) {
        contents.withLock { if $0.connection == ObjectIdentifier(channel) { $0.isAwake = false } }
    }

    /// The next entry for a connection; `nil` for one that has been replaced.
    func next(for channel: WebSocketChannel) -> Entry? {
        contents.withLock { contents in
            guard contents.connection == ObjectIdentifier(channel), let entry = contents.waiting.popFirst()
            else { return nil }
            contents.count -= 1
            return entry
        }
    }
}

/// The use of a sink by one subscription. Once another subscription has the sink, it changes nothing.
final class WebSocketOutlet: Sendable {
    let outbox: WebSocketOutbox
    /// The account of the subscription, if its connections carry a credential.
    let account: SessionAccount?
    /// Ends the subscription.
    let stop = Signal<Void>()

    fileprivate init(_ outbox: WebSocketOutbox, _ account: SessionAccount?) {
        self.outbox = outbox
        self.account = account
    }

    /// Shows the state of the connection.
    func show(_ state: WebSocketState) {
        let isShown = outbox.contents.withLock { contents -> Bool in
            guard contents.outlet === self else { return false }
            contents.state = state
            return true
        }
        if isShown { outbox.showState() }
    }

    /// Sets the connection that takes the messages.
    func connect(_ channel: WebSocketChannel, wake: @escaping @Sendable () -> Void) {
        outbox.contents.withLock { contents in
            guard contents.outlet === self else { return }
            contents.connection = ObjectIdentifier(channel)
            contents.wake = wake
            contents.isAwake = false
        }
    }

    /// Records that a close frame has been sent, so that no connection follows.
    func didSendClose() {
        outbox.contents.withLock { contents in
            if contents.outlet === self { contents.isClosed = true }
        }
    }

    var isClosed: Bool { outbox.contents.withLock { $0.outlet === self && $0.isClosed } }

    /// Gives the sink back, and fails what waits.
    ///
    /// - Parameter error: the error that has ended the subscription; `nil` for the error of a closed WebSocket.
    func release(because error: NetworkError? = nil) { outbox.release(self, because: error) }
}

extension WebSocketOutbox.Contents {
    /// Removes what waits, and forgets the connection.
    fileprivate mutating func removeAll() -> [WebSocketOutbox.Entry] {
        isClosed = false
        isClosing = false
        connection = nil
        wake = nil
        isAwake = false
        count = 0
        // The list itself stays, since the tickets of these entries must not be those of later ones.
        var rest: [WebSocketOutbox.Entry] = []
        while let entry = waiting.popFirst() { rest.append(entry) }
        return rest
    }

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
        /// There is no connection to close; the subscription to end, if there is one.
        case closes(WebSocketOutlet?)
    }

    fileprivate mutating func admit(
        _ entry: WebSocketOutbox.Entry, upTo limit: Int, dropsOldest: Bool
    ) -> Admission {
        if entry.content.isClose {
            if isClosing || hasEnded { return .closes(nil) }
            if connection == nil, waiting.isEmpty {
                isClosed = outlet != nil
                return .closes(outlet)
            }
            isClosing = true
            return enqueue(entry, dropped: nil)
        }
        if isClosing || hasEnded { return .closed }
        guard count >= limit else { return enqueue(entry, dropped: nil) }
        guard dropsOldest else { return .full }
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
