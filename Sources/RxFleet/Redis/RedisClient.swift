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
    // Unchecked: constants, and variables that are accessed only inside `lane`, which is serial. Debug builds check that.

    /// The properties of a connection that a client needs.
    struct Settings: Sendable {
        var address: RedisStore.Address
        /// The name of the connection in Redis.
        var name = "rxfleet"
        /// The beginning of the keys whose changes are told; `nil` for none.
        var trackedPrefix: [UInt8]?
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

    private var state = State.idle
    private var number = 0
    private var exchange: Scope?
    private var output: Emitter<[UInt8], NetworkError>?
    private var parser: RESPParser
    private var unsent = RedisQueue()
    private var sent = RedisQueue()
    private var isFlushing = false
    private var isTimed = false
    private var hasReceived = false
    private var readySince: Duration?
    private var backoff = RedisBackoff()
    private var timer: (any Cancellable)?
    private var channels: [String: Channel] = [:]
    private var latest = 0
    private var observers: [@Sendable (Event) -> Void] = []
    private let counter = Atomic<Int>(0)

    init(_ settings: Settings, over transport: any Transport) {
        self.settings = settings
        self.transport = transport
        clock = transport.scheduler
        lane = Lane(scheduler: transport.scheduler)
        parser = RESPParser(limits: settings.limits)
    }

    deinit {
        timer?.cancel()
        exchange?.cancel()
    }

    /// The number of commands sent so far, those of handshakes included. From any thread.
    var commandCount: Int { counter.load(ordering: .relaxed) }

    // MARK: - Entrances

    /// Sends a command; the value is the reply, which may be an error. From any thread.
    func send(_ command: RedisCommand) -> Observable<RESPValue, NetworkError> {
        .create { [self] emitter in
            enter(
                // The client stays until the reply is there, also if nobody else holds it.
                RedisCall(command) { [self] result in
                    withExtendedLifetime(self) {}
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
    func enter(_ call: RedisCall) { lane.enter { self.take(call) } }

    /// Calls `observer` with all events from now on, inside the lane. From any thread.
    func observe(_ observer: @escaping @Sendable (Event) -> Void) {
        lane.enter { self.observers.append(observer) }
    }

    /// The messages of a channel, as ``SharedStore/messages(of:)`` has them. From any thread.
    func messages(of channel: String) -> Observable<SharedMessage, Never> {
        .create { [self] emitter in
            lane.enter {
                self.latest += 1
                let id = self.latest
                guard !emitter.isCancelled else { return }
                self.listen(to: channel, as: id) { emitter.send($0) }
                emitter.onClose { [weak self] in
                    guard let self else { return }
                    lane.enter { self.stopListening(to: channel, as: id) }
                }
            }
        }
    }

    /// Ends the connection for good: commands fail from now on. From any thread.
    func shutDown() {
        lane.enter { self.lose(NetworkError(.shutDown, "the store has been shut down"), forGood: true) }
    }

    // MARK: - Commands

    private func take(_ call: RedisCall) {
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
        unsent.append(call)
        if case .idle = state { connect() }
        flushSoon()
    }

    private func fail(_ call: RedisCall, _ error: NetworkError, isSent: Bool) {
        call.complete(.failure(error.asLossOfCommand(isSent: isSent)))
    }

    /// Sends the commands of this turn of the scheduler together.
    private func flushSoon() {
        guard case .ready = state, !isFlushing else { return }
        isFlushing = true
        clock.schedule { [weak self] in
            guard let self else { return }
            lane.enter {
                self.isFlushing = false
                self.flush()
            }
        }
    }

    private func flush() {
        guard case .ready = state, let output, !output.isPaused, !unsent.isEmpty else { return }
        var bytes: [UInt8] = []
        let now = clock.now
        while bytes.count < Self.batchSize, let call = unsent.popFirst() {
            note(call, at: now, into: &bytes)
        }
        output.send(bytes)
        watch()
        if !unsent.isEmpty { flushSoon() }
    }

    /// The bytes that are sent at a time, at least.
    private static let batchSize = 256 << 10

    private func note(_ call: RedisCall, at now: Duration, into bytes: inout [UInt8]) {
        var call = call
        if let command = call.command { bytes += command.bytes }
        call.command = nil
        call.sentAt = now
        counter.add(1, ordering: .relaxed)
        sent.append(call)
    }

    // MARK: - Connecting

    private func connect() {
        number += 1
        let current = number
        state = .connecting
        parser = RESPParser(limits: settings.limits)
        let handshake = RedisHandshake(
            to: settings.address, as: settings.name, tracking: settings.trackedPrefix)
        var opening: [UInt8] = []
        let now = clock.now
        for (step, command) in handshake.steps {
            note(RedisCall(command, .handshake(step)), at: now, into: &opening)
        }
        guard let url = URL(string: settings.address.connectionURL) else {
            return lose(NetworkError(.invalidConfiguration, "\(settings.address) is not an address of Redis"))
        }
        var request = Request(url: url)
        request.timeouts = .unlimited
        request.timeouts.connect = settings.connectTimeout
        request.upgrade = ProtocolUpgrade(opening: opening, output: outgoing(of: current))
        let scope = Scope(lane: lane)
        exchange = scope
        transport.send(request).subscribe(
            Observer(
                scope: scope, next: { [weak self] event in self?.receive(event) },
                end: { [weak self] completion in
                    scope.close()
                    self?.end(completion, of: current)
                }))
        // A server that accepts the connection and says nothing.
        schedule(after: settings.connectTimeout + settings.commandTimeout) { client in
            guard client.number == current, case .connecting = client.state else { return }
            client.lose(client.timeout)
        }
    }

    private func outgoing(of connection: Int) -> Observable<[UInt8], NetworkError> {
        .create { [weak self] emitter in
            guard let self else { return }
            lane.enter {
                guard self.number == connection else { return }
                self.output = emitter
                self.flush()
            }
            emitter.onResume { [weak self] in
                guard let self else { return }
                lane.enter { self.flush() }
            }
        }
    }

    private func end(_ completion: Completion<NetworkError>, of connection: Int) {
        guard number == connection else { return }
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

    /// The connection is over, or could not be made.
    private func lose(_ error: NetworkError, forGood: Bool = false) {
        if case .closed = state { return }
        number += 1
        exchange?.close()
        (exchange, output) = (nil, nil)
        timer?.cancel()
        parser = RESPParser(limits: settings.limits)
        let wasReady = readySince.map { clock.now - $0 > .seconds(5) } ?? false
        readySince = nil
        let (lost, kept) = (sent.removeAll(), unsent.removeAll())
        if forGood {
            state = .closed
        } else {
            state = .waiting(error)
            if wasReady { backoff.reset() }
            let wait = backoff.next(isLasting: error.isLasting, fraction: RandomSource.fraction())
            timer = schedule(after: wait) { client in
                if case .waiting = client.state { client.connect() }
            }
        }
        for observer in observers { observer(.disconnected(error)) }
        for name in channels.keys.sorted() {
            channels[name]?.isConfirmed = false
            // A failed attempt to connect is no news.
            guard channels[name]?.isToldOfLoss == false else { continue }
            channels[name]?.isToldOfLoss = true
            channels[name]?.tell(.disconnected)
        }
        for call in lost { fail(call, error, isSent: true) }
        for call in kept { fail(call, error, isSent: false) }
    }

    private func becomeReady() {
        state = .ready
        readySince = clock.now
        hasReceived = true
        // Before the commands that wait: one of them may lead to a message.
        let calls = unsent.removeAll()
        for name in channels.keys.sorted() { subscribe(to: name) }
        for call in calls { unsent.append(call) }
        for observer in observers { observer(.connected) }
        flush()
        ping()
    }

    // MARK: - Receiving

    private func receive(_ event: TransferEvent) {
        guard case .chunk(let bytes) = event else { return }
        let current = number
        hasReceived = true
        parser.append(bytes)
        do throws(RESPError) {
            while number == current, let value = try parser.next() { receive(value) }
        } catch {
            lose(RedisErrors.malformed(error.description))
        }
    }

    private func receive(_ value: RESPValue) {
        if case .push(let elements) = value { return receive(push: elements) }
        guard let call = sent.popFirst() else {
            return lose(RedisErrors.malformed("a reply without a command"))
        }
        switch (call.kind, value) {
        case (.command, _):
            call.complete(.success(value))
            // A failover has made this server a replica; the name of the host may lead to the new master.
            if case .error(let failure) = value, failure.code == "READONLY" {
                lose(RedisErrors.error(for: failure))
            }
        case (.handshake(let step), _):
            do throws(NetworkError) {
                try RedisHandshake.check(value, to: step)
            } catch {
                return lose(error)
            }
            if case .connecting = state, sent.isEmpty { becomeReady() }
        case (.subscribe, .error(let failure)), (.unsubscribe, .error(let failure)):
            let error = RedisErrors.error(for: failure)
            for observer in observers { observer(.refused(error)) }
        case (.subscribe, _), (.unsubscribe, _):
            lose(RedisErrors.unexpected(value, instead: "a push"))
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
        latest += 1
        channels[name] = Channel(number: latest, listeners: [id: listener])
        switch state {
        case .idle: connect()
        case .ready: subscribe(to: name)
        case .connecting: break
        case .waiting, .closed:
            channels[name]?.isToldOfLoss = true
            listener(.disconnected)
        }
    }

    private func stopListening(to name: String, as id: Int) {
        channels[name]?.listeners[id] = nil
        guard channels[name]?.listeners.isEmpty == true else { return }
        channels[name] = nil
        guard case .ready = state else { return }
        unsent.append(RedisCall(RedisCommand("UNSUBSCRIBE", name), .unsubscribe(channel: name)))
        flushSoon()
    }

    private func subscribe(to name: String) {
        guard let channel = channels[name] else { return }
        unsent.append(
            RedisCall(RedisCommand("SUBSCRIBE", name), .subscribe(channel: name, number: channel.number)))
        flushSoon()
    }

    // MARK: - Time

    /// Watches the command that has waited longest.
    private func watch() {
        guard !isTimed, let first = sent.first else { return }
        isTimed = true
        schedule(after: first.sentAt + settings.commandTimeout - clock.now) { client in
            client.isTimed = false
            guard case .ready = client.state, let first = client.sent.first else { return }
            guard client.clock.now - first.sentAt < client.settings.commandTimeout else {
                return client.lose(client.timeout)
            }
            client.watch()
        }
    }

    private var timeout: NetworkError {
        NetworkError(
            .idleTimeout, "\(settings.address) has not replied within \(settings.commandTimeout)")
    }

    /// Asks a silent server whether it is there.
    private func ping() {
        let current = number
        timer = schedule(after: settings.pingInterval) { client in
            guard client.number == current, case .ready = client.state else { return }
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

extension NetworkError {
    /// Whether another attempt to connect fails in the same way until somebody changes the server or the address.
    fileprivate var isLasting: Bool {
        switch code {
        case .storeLoginMissing, .storeLoginRefused, .storeForbidden, .storeUnsupported, .storeReadOnly,
            .invalidConfiguration, .invalidResponse:
            true
        case .tls: tlsFailure != nil
        default: false
        }
    }
}
#endif
