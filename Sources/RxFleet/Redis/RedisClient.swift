#if Fleet
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import Synchronization

/// One connection to Redis, made again when it is lost: pipelines commands, and passes on messages.
///
/// It connects with the first command. While there is no connection and none is being made, commands fail at once.
final class RedisClient: @unchecked Sendable {
    // Unchecked, without exclusivity checks: constants, and variables that are accessed only inside `lane`, which is serial
    // (debug builds check that); nothing that leads back here is called while one is being changed.

    /// The properties of a connection that a client needs.
    struct Settings: Sendable {
        var address: RedisStore.Address
        /// The name of the connection in Redis.
        var name = "rxfleet"
        /// The beginning of the keys of entries.
        var prefix: [UInt8] = []
        /// Whether Redis reports changes of these keys.
        var tracksEntries = false
        var connectTimeout = Duration.seconds(5)
        var commandTimeout = Duration.seconds(5)
        /// The silence after which the server is asked whether it is there.
        var pingInterval = Duration.seconds(10)
        /// The most commands that wait for their replies.
        var commandLimit = 10_000
        var limits = RESPParser.Limits()
    }

    /// A change of the connection.
    enum Event: Sendable {
        case connected
        /// The connection is lost, or there is none.
        case disconnected(NetworkError)
        /// Entries have changed; `nil` stands for all of them.
        case invalidated([[UInt8]]?)
        /// A subscription has been refused.
        case refused(NetworkError)
    }

    private enum State {
        case idle
        case connecting, ready
        /// Waits until the next attempt, because of this error.
        case waiting(NetworkError)
        case closed
    }

    /// Work that enters the lane from outside, all in one queue, which keeps each caller's order.
    private enum Submission: Sendable {
        case call(RedisCall)
        case work(@Sendable () -> Void)
    }

    fileprivate struct Channel {
        /// Distinguishes this subscription from earlier ones to the channel.
        let number: Int
        var isConfirmed = false
        /// Whether the listeners know that messages do not arrive.
        var isToldOfLoss = false
        var listeners: [Int: @Sendable (SharedMessage) -> Void] = [:]
    }

    let lane: Lane
    let clock: any Scheduler
    private let settings: Settings
    private let transport: any Transport

    @safe @exclusivity(unchecked) private var state = State.idle
    /// Incremented by each connect and loss: callbacks of former connections compare it and do nothing.
    @safe @exclusivity(unchecked) private var connectionNumber = 0
    @safe @exclusivity(unchecked) private var connection: Scope?
    @safe @exclusivity(unchecked) private var output: Emitter<[UInt8], NetworkError>?
    @safe @exclusivity(unchecked) private var parser: RESPParser
    /// The commands that cannot be written yet.
    @safe @exclusivity(unchecked) private var unsent = FIFO<RedisCall>()
    /// The commands that have been written, the last ones to `pending`, and wait for their replies.
    @safe @exclusivity(unchecked) private var sent = FIFO<RedisCall>()
    /// The bytes that are sent together, and the number of their commands.
    @safe @exclusivity(unchecked) private var pending: [UInt8] = []
    @safe @exclusivity(unchecked) private var pendingCount = 0
    @safe @exclusivity(unchecked) private var pendingSince = Duration.zero
    /// Keeps the client until the replies are there, also if nobody else holds it; for all calls together, because its
    /// weak references make retaining it slow.
    @safe @exclusivity(unchecked) private var retained: RedisClient?
    @safe @exclusivity(unchecked) private var isFlushScheduled = false
    @safe @exclusivity(unchecked) private var hasTimeoutTimer = false
    /// Whether bytes have arrived since the last ping check.
    @safe @exclusivity(unchecked) private var hasReceived = false
    /// Since when the connection is ready: only one that has lasted resets the backoff.
    @safe @exclusivity(unchecked) private var readySince: Duration?
    @safe @exclusivity(unchecked) private var backoff = RedisBackoff()
    /// The wait for the next attempt to connect, or for the next ping; never both.
    @safe @exclusivity(unchecked) private var timer: (any Cancellable)?
    @safe @exclusivity(unchecked) private var channels: [String: Channel] = [:]
    @safe @exclusivity(unchecked) private var lastID = 0
    @safe @exclusivity(unchecked) private var observers: [@Sendable (Event) -> Void] = []
    private let counter = Atomic<Int>(0)
    /// An empty array for the next ones.
    @safe @exclusivity(unchecked) private var spare: [Submission] = []
    /// What has arrived while the lane was taken.
    private let inbox = Mutex<[Submission]>([])

    init(_ settings: Settings, over transport: any Transport) {
        self.settings = settings
        self.transport = transport
        clock = transport.scheduler
        lane = Lane(scheduler: transport.scheduler)
        parser = RESPParser(limits: settings.limits)
    }

    deinit {
        timer?.cancel()
        connection?.cancel()
    }

    /// The number of commands sent so far, those of handshakes included. From any thread.
    var commandCount: Int { counter.load(ordering: .relaxed) }

    // MARK: - Entrances

    /// Sends a command; the value is the reply, which may be an error. From any thread.
    func send(_ command: RedisCommand) -> Observable<RESPValue, NetworkError> {
        .create { [self] emitter in
            enter(
                RedisCallback(command) { result in
                    switch result {
                    case .success(let value):
                        emitter.send(value)
                        emitter.finish()
                    case .failure(let error): emitter.fail(error)
                    }
                })
        }
    }

    /// Sends a command. From any thread.
    func enter(_ call: RedisCall) { enter(.call(call)) }

    /// Runs `work` inside the lane, after the commands and the work that the caller has entered before. From any thread.
    func perform(_ work: @escaping @Sendable () -> Void) { enter(.work(work)) }

    private func enter(_ submission: Submission) {
        if lane.tryEnter() {
            takeInbox()
            take(submission)
            return lane.leave()
        }
        let isFirst = inbox.withLock { inbox in
            inbox.append(submission)
            return inbox.count == 1
        }
        // All that arrive until then are taken together.
        if isFirst { lane.enqueue { self.takeInbox() } }
    }

    /// Calls `observer` with all events from now on, inside the lane. From any thread.
    func observe(_ observer: @escaping @Sendable (Event) -> Void) {
        perform { self.observers.append(observer) }
    }

    /// The messages of a channel, as ``SharedStore/messages(of:)`` has them. From any thread.
    func messages(of channel: String) -> Observable<SharedMessage, Never> {
        .create { [self] emitter in
            perform {
                self.lastID += 1
                let id = self.lastID
                guard !emitter.isCancelled else { return }
                self.listen(to: channel, as: id) { emitter.send($0) }
                emitter.onClose { [weak self] in
                    guard let self else { return }
                    perform { self.stopListening(to: channel, as: id) }
                }
            }
        }
    }

    /// Ends the connection for good: commands fail from now on. From any thread.
    func shutDown() {
        perform { self.lose(NetworkError(.shutDown, "the store has been shut down"), forGood: true) }
    }

    // MARK: - Commands

    private func takeInbox() {
        // The array is used again. A call that fails may lead to others, which then need one of their own.
        var submissions: [Submission] = []
        swap(&submissions, &spare)
        inbox.withLock { swap(&$0, &submissions) }
        for submission in submissions { take(submission) }
        submissions.removeAll(keepingCapacity: submissions.count <= 2 * Self.earlyCount)
        spare = submissions
    }

    private func take(_ submission: Submission) {
        switch submission {
        case .call(let call): take(call)
        case .work(let work): work()
        }
    }

    private func take(_ call: RedisCall) {
        lane.assertInside()
        switch state {
        case .closed:
            return fail(call, NetworkError(.shutDown, "the store has been shut down"), isSent: false)
        case .waiting(let error): return fail(call, error, isSent: false)
        case .idle, .connecting, .ready: break
        }
        guard unsent.count + sent.count < settings.commandLimit else {
            let error = NetworkError(.resources, "\(settings.commandLimit) commands wait for Redis")
            return fail(call, error, isSent: false)
        }
        if retained == nil { retained = self }
        enqueue(call)
        if case .idle = state { connect() }
    }

    /// Writes a call after those that wait, or has it wait with them.
    private func enqueue(_ call: RedisCall) {
        // Those that are sent together are written together.
        guard pendingCount > 0 || isWritable else { return unsent.append(call) }
        write(call)
        if isPendingEnough { flush() } else { flushSoon() }
    }

    /// The commands, or bytes, that are sent without waiting for more, so that the server works on them meanwhile.
    private static let earlyCount = 128
    private static let earlySize = 64 << 10

    private var isWritable: Bool {
        guard case .ready = state, unsent.isEmpty, let output else { return false }
        return !output.isPaused
    }

    private var isPendingEnough: Bool { pendingCount >= Self.earlyCount || pending.count >= Self.earlySize }

    private func fail(_ call: RedisCall, _ error: NetworkError, isSent: Bool) {
        call.complete(.failure(error.asLossOfCommand(isSent: isSent)))
    }

    private func write(_ call: RedisCall) {
        if pendingCount == 0 { pendingSince = clock.now }
        pendingCount += 1
        call.append(to: &pending, below: settings.prefix)
        call.sentAt = pendingSince
        sent.append(call)
    }

    /// Sends the commands of this turn of the scheduler together.
    private func flushSoon() {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        clock.schedule { [weak self] in
            guard let self else { return }
            lane.enter {
                self.isFlushScheduled = false
                self.flush()
            }
        }
    }

    private func flush() {
        lane.assertInside()
        guard case .ready = state, let output, pendingCount > 0 else { return }
        counter.add(pendingCount, ordering: .relaxed)
        pendingCount = 0
        // The next ones will need as much.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(pending.count, Self.earlySize))
        swap(&bytes, &pending)
        output.send(bytes)
        startCommandTimeout()
    }

    /// Writes the commands that have waited for the connection, or for the network.
    private func writeUnsent() {
        while case .ready = state, let output, !output.isPaused, let call = unsent.popFirst() {
            write(call)
            if isPendingEnough { flush() }
        }
        flush()
    }

    // MARK: - Connecting

    private func connect() {
        connectionNumber += 1
        let current = connectionNumber
        state = .connecting
        parser = RESPParser(limits: settings.limits)
        let handshake = RedisHandshake(
            to: settings.address, as: settings.name, tracking: settings.tracksEntries ? settings.prefix : nil)
        var opening: [UInt8] = []
        let now = clock.now
        for (step, command) in handshake.steps {
            let call = RedisCall(nil, .handshake(step))
            opening += command.bytes
            call.sentAt = now
            sent.append(call)
        }
        counter.add(handshake.steps.count, ordering: .relaxed)
        guard let url = URL(string: settings.address.connectionURL) else {
            return lose(NetworkError(.invalidConfiguration, "\(settings.address) is not an address of Redis"))
        }
        var request = Request(url: url)
        request.timeouts = .unlimited
        request.timeouts.connect = settings.connectTimeout
        request.upgrade = ProtocolUpgrade(opening: opening, output: outgoing(of: current))
        let scope = Scope(lane: lane)
        connection = scope
        transport.send(request).subscribe(
            Observer(
                scope: scope, next: { [weak self] event in self?.receive(event) },
                end: { [weak self] completion in
                    scope.close()
                    self?.end(completion, of: current)
                }))
        // A server that accepts the connection and says nothing.
        schedule(after: settings.connectTimeout + settings.commandTimeout) { client in
            guard client.connectionNumber == current, case .connecting = client.state else { return }
            client.lose(client.timeout)
        }
    }

    private func outgoing(of current: Int) -> Observable<[UInt8], NetworkError> {
        .create { [weak self] emitter in
            guard let self else { return }
            lane.enter {
                guard self.connectionNumber == current else { return }
                self.output = emitter
                self.writeUnsent()
            }
            emitter.onResume { [weak self] in
                guard let self else { return }
                lane.enter { self.writeUnsent() }
            }
        }
    }

    private func end(_ completion: Completion<NetworkError>, of current: Int) {
        guard connectionNumber == current else { return }
        switch completion {
        case .finished: lose(NetworkError(.connectionLost, "\(settings.address) has closed the connection"))
        case .failed(let cause):
            var error = NetworkError(cause.code, "\(settings.address): \(cause.message)")
            error.details = cause.details
            error.tlsFailure = cause.tlsFailure
            error.curlCode = cause.curlCode
            error.systemError = cause.systemError
            lose(error, forGood: cause.code == .shutDown)
        }
    }

    /// Ends the connection, or the attempt to make one: all commands fail; another attempt follows unless `forGood`.
    private func lose(_ error: NetworkError, forGood: Bool = false) {
        lane.assertInside()
        if case .closed = state { return }
        connectionNumber += 1
        connection?.close()
        (connection, output) = (nil, nil)
        timer?.cancel()
        parser = RESPParser(limits: settings.limits)
        let wasStable = readySince.map { clock.now - $0 > .seconds(5) } ?? false
        readySince = nil
        let calls = sent.elements
        let (lost, notSent) = (calls.dropLast(pendingCount), calls.suffix(pendingCount) + unsent.elements)
        (pending, pendingCount) = ([], 0)
        sent.removeAll()
        unsent.removeAll()
        retained = nil
        if forGood {
            state = .closed
        } else {
            state = .waiting(error)
            if wasStable { backoff.reset() }
            let wait = backoff.next(
                isLasting: RedisErrors.isLasting(error), fraction: RandomSource.fraction())
            timer = schedule(after: wait) { client in
                if case .waiting = client.state { client.connect() }
            }
        }
        for observer in observers { observer(.disconnected(error)) }
        for name in channels.keys.sorted() { tellOfLoss(of: name) }
        for call in lost { fail(call, error, isSent: true) }
        for call in notSent { fail(call, error, isSent: false) }
    }

    private func becomeReady() {
        state = .ready
        readySince = clock.now
        hasReceived = true
        // Before the commands that wait: one of them may lead to a message.
        let calls = unsent.elements
        unsent.removeAll()
        for name in channels.keys.sorted() { subscribe(to: name) }
        for call in calls { enqueue(call) }
        for observer in observers { observer(.connected) }
        writeUnsent()
        ping()
    }

    // MARK: - Receiving

    private func receive(_ event: TransferEvent) {
        lane.assertInside()
        guard case .chunk(let bytes) = event else { return }
        let current = connectionNumber
        hasReceived = true
        parser.append(bytes)
        do throws(RESPError) {
            var count = 0
            while connectionNumber == current, try receiveNext() {
                count += 1
                // The server can work on the commands that these replies have led to while the others are read.
                if count.isMultiple(of: Self.earlyCount) { takeInbox() }
            }
            takeInbox()
            if sent.isEmpty, unsent.isEmpty { retained = nil }
        } catch {
            lose(RedisErrors.malformed(error.description))
        }
    }

    /// Receives the next value; false if it has not arrived.
    private func receiveNext() throws(RESPError) -> Bool {
        if let call = sent.first, case .read = call.kind, let entry = parser.nextString(RedisKeys.entry) {
            _ = sent.popFirst()
            call.complete(with: entry)
            return true
        }
        guard let value = try parser.next() else { return false }
        receive(consume value)
        return true
    }

    private func receive(_ value: consuming RESPValue) {
        if case .push(let elements) = value { return receive(push: elements) }
        guard let call = sent.popFirst() else {
            return lose(RedisErrors.malformed("a reply without a command"))
        }
        switch call.kind {
        // A read that is not a string by itself, such as null.
        case .command, .read:
            guard case .error(let failure) = value else { return call.complete(.success(consume value)) }
            call.complete(.success(value))
            // A failover has made this server a replica; the name of the host may lead to the new master.
            if failure.code == "READONLY" { lose(RedisErrors.error(for: failure)) }
        case .handshake(let step):
            do throws(NetworkError) {
                try RedisHandshake.check(value, to: step)
            } catch {
                return lose(error)
            }
            if case .connecting = state, sent.isEmpty { becomeReady() }
        case .subscribe, .unsubscribe:
            guard case .error(let failure) = value else {
                return lose(RedisErrors.unexpected(value, instead: "a push"))
            }
            if case .subscribe(let name, let number) = call.kind, channels[name]?.number == number {
                tellOfLoss(of: name)
            }
            for observer in observers { observer(.refused(RedisErrors.error(for: failure))) }
        }
    }

    private func receive(push elements: [RESPValue]) {
        let channel = elements.count > 1 ? elements[1].text : nil
        switch elements.first?.text {
        case "message":
            guard let channel, elements.count == 3, let bytes = elements[2].bytes else {
                return lose(RedisErrors.malformed("a message without a text"))
            }
            // One for an earlier subscription, which may arrive before the end of that is known.
            guard channels[channel]?.isConfirmed == true else { return }
            channels[channel]?.tell(.message(bytes))
        case "subscribe":
            guard case .subscribe(let name, let number) = sent.first?.kind, name == channel else {
                return lose(RedisErrors.malformed("a subscription that nobody has asked for"))
            }
            _ = sent.popFirst()
            guard channels[name]?.number == number else { return }
            channels[name]?.isConfirmed = true
            channels[name]?.isToldOfLoss = false
            channels[name]?.tell(.connected)
        case "unsubscribe":
            // The server ends a subscription by itself if the user loses the permission.
            guard case .unsubscribe(let name) = sent.first?.kind, name == channel else {
                return lose(RedisErrors.malformed("the end of a subscription that nobody has asked for"))
            }
            _ = sent.popFirst()
        case "invalidate":
            guard elements.count == 2 else {
                return lose(RedisErrors.malformed("an invalidation without keys"))
            }
            let keys = elements[1].elements?.compactMap(\.bytes)
            for observer in observers { observer(.invalidated(keys)) }
        default: break
        }
    }

    // MARK: - Channels

    private func listen(
        to name: String, as id: Int, _ listener: @escaping @Sendable (SharedMessage) -> Void
    ) {
        if let channel = channels[name] {
            channels[name]?.listeners[id] = listener
            if channel.isConfirmed {
                listener(.connected)
            } else if channel.isToldOfLoss {
                listener(.disconnected)
            }
            return
        }
        lastID += 1
        channels[name] = Channel(number: lastID, listeners: [id: listener])
        switch state {
        case .idle: connect()
        case .ready: subscribe(to: name)
        case .connecting: break
        case .waiting, .closed: tellOfLoss(of: name)
        }
    }

    /// Tells the listeners once: a failed attempt to connect or to subscribe again is no news.
    private func tellOfLoss(of name: String) {
        channels[name]?.isConfirmed = false
        guard channels[name]?.isToldOfLoss == false else { return }
        channels[name]?.isToldOfLoss = true
        channels[name]?.tell(.disconnected)
    }

    private func stopListening(to name: String, as id: Int) {
        channels[name]?.listeners[id] = nil
        guard channels[name]?.listeners.isEmpty == true else { return }
        channels[name] = nil
        guard case .ready = state else { return }
        enqueue(RedisCall(RedisCommand("UNSUBSCRIBE", name), .unsubscribe(channel: name)))
    }

    private func subscribe(to name: String) {
        guard let channel = channels[name] else { return }
        enqueue(
            RedisCall(RedisCommand("SUBSCRIBE", name), .subscribe(channel: name, number: channel.number)))
    }

    // MARK: - Time

    /// Watches the command that has waited longest.
    private func startCommandTimeout() {
        guard !hasTimeoutTimer, let first = sent.first else { return }
        hasTimeoutTimer = true
        schedule(after: first.sentAt + settings.commandTimeout - clock.now) { client in
            client.hasTimeoutTimer = false
            guard case .ready = client.state, let first = client.sent.first else { return }
            guard client.clock.now - first.sentAt < client.settings.commandTimeout else {
                return client.lose(client.timeout)
            }
            client.startCommandTimeout()
        }
    }

    private var timeout: NetworkError {
        NetworkError(
            .idleTimeout, "\(settings.address) has not replied within \(settings.commandTimeout)")
    }

    /// Asks a silent server whether it is there. ``RedisStore/Configuration/memoryLimit`` says how soon that is known.
    private func ping() {
        let current = connectionNumber
        timer = schedule(after: settings.pingInterval) { client in
            guard client.connectionNumber == current, case .ready = client.state else { return }
            if !client.hasReceived, client.sent.isEmpty { client.take(RedisCall(RedisCommand("PING"))) }
            client.hasReceived = false
            client.ping()
        }
    }

    /// Runs `work` in the lane after a time, if the client is still there.
    @discardableResult
    private func schedule(
        after delay: Duration, _ work: @escaping @Sendable (RedisClient) -> Void
    ) -> any Cancellable {
        clock.schedule(after: delay) { [weak self] in
            guard let self else { return }
            lane.enter { work(self) }
        }
    }
}

extension RedisClient.Channel {
    fileprivate func tell(_ message: SharedMessage) {
        for (_, listener) in listeners.sorted(by: { $0.key < $1.key }) { listener(message) }
    }
}
#endif
