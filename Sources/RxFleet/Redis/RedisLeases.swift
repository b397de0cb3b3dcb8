#if Fleet
import FoundationEssentials
import RxClient
import RxHTTP
import RxLite

/// The leases that this process has or waits for.
///
/// A request that does not get a lease waits in a queue in Redis. Whoever returns the lease grants it to the first in the
/// queue, and a message tells that process, which takes it over. If a holder returns nothing, the requests ask again when
/// the lease ends.
final class RedisLeases: @unchecked Sendable {
    // Unchecked: constants, and variables that are accessed only inside the lane of the client, which is serial.

    private let client: RedisClient
    private let keys: RedisKeys
    /// Begins the tokens of this process, up to a colon, and ends the name of its channel: `passOn` in the scripts
    /// takes it from the token.
    private let process = RandomSource.uuid().uuidString
    private var lastID = 0
    /// The requests that are not over, by token.
    private var requests: [String: LeaseRequest] = [:]
    private var isListening = false
    /// The messages of returned leases, as long as this object exists.
    private var listening: Subscription?

    /// A request of this process for a lease, until its subscription ends.
    private final class LeaseRequest: @unchecked Sendable {
        // Unchecked: constants, and variables that are accessed only inside the lane of the client.
        enum State { case waiting, asking, held, over }

        let name: String
        let token: String
        let time: Duration
        let emitter: Emitter<SharedLease, NetworkError>
        var state = State.waiting
        /// Whether the lease may have been granted since it was asked for.
        var mustAskAgain = false
        /// When the lease has ended at the latest, unless it is extended; by the clock of this process.
        var end = Duration.zero
        var timer: (any Cancellable)?

        init(
            _ name: String, _ token: String, _ time: Duration, _ emitter: Emitter<SharedLease, NetworkError>
        ) {
            self.name = name
            self.token = token
            self.time = time
            self.emitter = emitter
        }

        var milliseconds: [UInt8] { RedisKeys.milliseconds(time) }
    }

    init(over client: RedisClient, _ keys: RedisKeys) {
        self.client = client
        self.keys = keys
    }

    deinit { listening?.cancel() }

    private var lane: Lane { client.lane }

    /// A lease, as ``SharedStore/lease(_:for:)`` has it.
    func lease(_ name: String, for time: Duration) -> Observable<SharedLease, NetworkError> {
        .create { [self] emitter in
            do throws(NetworkError) { try StoreRules.check(name: name) } catch { return emitter.fail(error) }
            client.perform { self.join(name, StoreRules.leaseTime(time), emitter) }
        }
    }

    // MARK: - Waiting

    private func join(_ name: String, _ time: Duration, _ emitter: Emitter<SharedLease, NetworkError>) {
        guard !emitter.isCancelled else { return }
        lastID += 1
        // The scripts take the text before the colon for the process (`passOn`).
        let request = LeaseRequest(name, "\(process):\(lastID)", time, emitter)
        // The lease keeps this object, and with it the connection.
        emitter.onClose { [self] in client.perform { self.leave(request) } }
        listen()
        requests[request.token] = request
        ask(request)
    }

    /// Listens before the first request is sent, so that Redis finds this process there.
    private func listen() {
        guard !isListening else { return }
        isListening = true
        listening = client.messages(of: keys.grants + process).subscribe { [weak self] message in
            guard let self else { return }
            lane.enter { self.receive(message) }
        }
    }

    private func receive(_ message: SharedMessage) {
        switch message {
        // Messages may have been missed before.
        case .connected: for request in sortedRequests { ask(request) }
        case .message(let bytes):
            // As `passOn` writes it: the token, a space, the name.
            guard let space = bytes.firstIndex(of: UInt8(ascii: " ")) else { return }
            let token = String(decoding: bytes[..<space], as: UTF8.self)
            let name = String(decoding: bytes[(space + 1)...], as: UTF8.self)
            guard token.hasPrefix(process) else { return }
            // Of a request that has failed with an earlier connection.
            if let request = requests[token] { ask(request) } else { release(token, of: name) }
        case .disconnected:
            let error = NetworkError(
                .connectionLost, "the connection to Redis was lost while waiting for a lease")
            for request in sortedRequests where request.state == .waiting { fail(request, error) }
        }
    }

    private var sortedRequests: [LeaseRequest] { requests.sorted { $0.key < $1.key }.map(\.value) }

    private func ask(_ request: LeaseRequest) {
        switch request.state {
        case .waiting: break
        case .asking:
            request.mustAskAgain = true
            return
        // A message may be overtaken by the reply that grants the lease.
        case .held, .over: return
        }
        request.state = .asking
        request.mustAskAgain = false
        request.timer?.cancel()
        let askedAt = client.clock.now
        // In the order of ``RedisScript/acquire``; `nil` stands for the milliseconds.
        let arguments = [request.token, nil, keys.grants, request.name].map { text in
            text.map { Array($0.utf8) } ?? request.milliseconds
        }
        client.enter(.acquire, leaseKeys(request.name), arguments) { [self] result in
            receive(result, for: request, askedAt: askedAt)
        }
    }

    /// The keys of ``RedisScript/acquire`` and ``RedisScript/release``, in their order.
    private func leaseKeys(_ name: String) -> [[UInt8]] { [keys.lease(name), keys.clock, keys.queue(name)] }

    private func receive(
        _ result: Result<RESPValue, NetworkError>, for request: LeaseRequest, askedAt: Duration
    ) {
        let reply: (isGranted: Bool, number: UInt64)
        do throws(NetworkError) {
            reply = try Self.reply(result.get())
        } catch {
            return fail(request, error)
        }
        switch (request.state, reply.isGranted) {
        case (.over, _): release(request.token, of: request.name)
        case (.held, _), (.waiting, _): break
        case (.asking, true):
            request.state = .held
            request.end = askedAt + request.time
            request.emitter.send(SharedLease(name: request.name, fence: reply.number))
            extend(request)
        case (.asking, false):
            request.state = .waiting
            guard !request.mustAskAgain else { return ask(request) }
            let rest = Duration.microseconds(Int64(min(reply.number, 1 << 50)))
            request.timer = schedule(after: rest + .milliseconds(1)) { leases in
                if request.state == .waiting { leases.ask(request) }
            }
        }
    }

    /// The reply of ``RedisScript/acquire``: 1 and the fence, or 0 and the microseconds until the end of another's
    /// lease.
    private static func reply(_ value: RESPValue) throws(NetworkError) -> (isGranted: Bool, number: UInt64) {
        guard let elements = value.elements, elements.count == 2, case .integer(let flag) = elements[0],
            let number = elements[1].text.flatMap({ UInt64($0) })
        else { throw RedisErrors.unexpected(value, instead: "a lease") }
        return (flag == 1, number)
    }

    // MARK: - Holding

    /// Extends the lease three times in its time.
    private func extend(_ request: LeaseRequest) {
        let rest = request.end - client.clock.now
        request.timer = schedule(after: min(request.time / 3, rest)) { leases in
            guard request.state == .held else { return }
            let now = leases.client.clock.now
            guard now < request.end else { return leases.fail(request, Self.ended(request.name)) }
            let arguments = [Array(request.token.utf8), request.milliseconds]
            leases.client.enter(.extend, [leases.keys.lease(request.name)], arguments) { [leases] result in
                guard request.state == .held else { return }
                switch result {
                case .success(.integer(1)):
                    request.end = now + request.time
                    leases.extend(request)
                case .success: leases.fail(request, Self.ended(request.name))
                // The lease is still there, and another attempt follows before it ends.
                case .failure: leases.extend(request)
                }
            }
        }
    }

    private static func ended(_ name: String) -> NetworkError {
        NetworkError(.superseded, "the lease of \(name) has ended")
    }

    /// Returns a lease, or leaves the queue. If this fails, the lease ends by itself.
    private func release(_ token: String, of name: String) {
        let arguments = [token, keys.grants, name].map { Array($0.utf8) }
        client.enter(.release, leaseKeys(name), arguments) { _ in }
    }

    // MARK: - The end

    private func leave(_ request: LeaseRequest) {
        let state = request.state
        end(request)
        // A request that is being asked is released when `receive` has its reply.
        if state == .held || state == .waiting { release(request.token, of: request.name) }
    }

    private func fail(_ request: LeaseRequest, _ error: NetworkError) {
        let state = request.state
        guard state != .over else { return }
        end(request)
        request.emitter.fail(error)
        if state == .held { release(request.token, of: request.name) }
    }

    private func end(_ request: LeaseRequest) {
        request.state = .over
        request.timer?.cancel()
        requests[request.token] = nil
    }

    private func schedule(
        after delay: Duration, _ work: @escaping @Sendable (RedisLeases) -> Void
    ) -> any Cancellable {
        client.clock.schedule(after: delay) { [weak self] in
            guard let self else { return }
            lane.enter { work(self) }
        }
    }
}

extension RedisClient {
    /// Runs a script, which Redis may not know yet. Calls `complete` once, inside the lane; a reply of failure is one.
    func enter(
        _ script: RedisScript, _ keys: [[UInt8]], _ arguments: [[UInt8]],
        complete: @escaping @Sendable (Result<RESPValue, NetworkError>) -> Void
    ) {
        enter(
            RedisCallback(script.call(keys, arguments)) { [self] result in
                // A script that Redis does not know has not been executed.
                if case .success(.error(let failure)) = result, failure.code == "NOSCRIPT" {
                    return enter(
                        RedisCallback(script.introduction(keys, arguments)) { complete(Self.checked($0)) })
                }
                complete(Self.checked(result))
            })
    }

    /// A reply of failure as a failure.
    static func checked(_ result: Result<RESPValue, NetworkError>) -> Result<RESPValue, NetworkError> {
        guard case .success(.error(let failure)) = result else { return result }
        return .failure(RedisErrors.error(for: failure))
    }
}
#endif
