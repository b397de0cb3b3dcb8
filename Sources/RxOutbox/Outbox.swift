#if Outbox
public import FoundationEssentials
public import RxClient
public import RxHTTP
public import RxLite

/// Sends what a program has promised to send, whatever happens to the program meanwhile: entries are stored before they
/// are sent, and removed after the answer.
///
/// ```swift
/// let outbox = try Outbox(
///     store: SQLiteOutboxStore(folder: "/var/lib/shop/outbox"), client: client, endpoints: [PlaceOrder.self])
///
/// let ticket = try await outbox.enqueue(
///     PlaceOrder(goods: 7, count: 2), key: .generated(.stripe), order: "account-7").value()
/// ```
///
/// An outbox begins to send when it is created, and stops when it is drained or released. Requests go through the
/// client's whole pipeline: session, limits, circuit breaker, retries. Safe from any thread.
public final class Outbox: Sendable {
    let run: OutboxRun

    /// Creates an outbox, and begins to send the entries of the store.
    ///
    /// - Parameters:
    ///   - store: the place of the entries. One outbox per process and store is enough; of several, one sends.
    ///   - client: the client that sends them.
    ///   - endpoints: the types of all entries. An entry of another type waits for an outbox that knows it.
    ///   - configuration: further options.
    /// - Throws: `invalidConfiguration` if two endpoints have the same name.
    public init(
        store: any OutboxStore, client: Client, endpoints: [any OutboxEndpoint.Type],
        configuration: OutboxConfiguration = OutboxConfiguration()
    ) throws(NetworkError) {
        run = OutboxRun(
            store: store, client: client, endpointTypes: try EndpointTypes(endpoints, configuration.seal),
            configuration
        )
        run.start()
    }

    deinit { run.abandon() }

    /// The state: the current one, then each new one.
    public var state: Property<OutboxState> { Property(run.state) }

    /// The events from the time of subscription, for metrics and logs. Never ends.
    public var events: Observable<OutboxEvent, Never> { run.events.observable }

    /// Stores an endpoint. Emits its ticket once it is durable, and ends.
    ///
    /// Each subscription stores another entry; nothing happens before, and cancelling has no effect on a stored entry.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint. Its type must be among those of the outbox.
    ///   - key: the protection against being executed twice.
    ///   - order: entries with the same order are sent one after another. Default `nil`: in parallel.
    ///   - topic: the entry replaces those with the same topic that are not being sent, dead letters included, for values
    ///     of which only the last one matters. Entries of one topic without `order` keep their order, too. Default
    ///     `nil`: it replaces none.
    ///   - lifetime: the time after which it becomes a dead letter. Default: that of the configuration.
    /// - Returns: a stream that fails with `invalidConfiguration` for an unknown type, `invalidParameters` if the endpoint
    ///   cannot be encoded, or if another endpoint has been enqueued with the given key, `file` or `untrustedFile` if a file
    ///   of the store or an attachment cannot be used, with the codes of a shared store, such as `tooLarge`, and `shutDown`
    ///   once the outbox is drained. An entry may have been stored although the store has failed.
    public func enqueue<E: OutboxEndpoint>(
        _ endpoint: E, key: OutboxKey, order: OutboxOrder? = nil, replacing topic: String? = nil,
        lifetime: Duration? = nil
    ) -> Observable<OutboxTicket<E>, NetworkError> {
        Observable { [run] observer in
            guard observer.scope.isOpen else { return }
            run.enqueue(endpoint, key, order, topic, lifetime) { result in
                let result = result.map { OutboxTicket<E>(id: $0, run: run) }
                observer.scope.enter { observer.emitOnly(result) }
            }
        }
    }

    /// The ticket of an entry that was enqueued before, possibly by a former run of the program.
    ///
    /// - Parameters:
    ///   - type: the type of the endpoint.
    ///   - id: the id of the former ticket.
    public func ticket<E: OutboxEndpoint>(_ type: E.Type, of id: OutboxID) -> OutboxTicket<E> {
        OutboxTicket(id: id, run: run)
    }

    /// Stops the outbox: refuses new entries, sends those that are due, waits for the running attempts, and then gives
    /// the store up. Emits the number of entries that remain, dead letters not counted, and ends.
    ///
    /// ```swift
    /// let remaining = try await outbox.drain(within: .seconds(10)).value()
    /// ```
    ///
    /// Entries that wait for a later time are not waited for; the next run of the program, or another process, sends
    /// them.
    ///
    /// - Parameter limit: the time that the entries may take. Attempts still running then are cancelled, and repeated by
    ///   the next run as far as their keys allow.
    public func drain(within limit: Duration) -> Observable<Int, Never> {
        Observable { [run] observer in
            guard observer.scope.isOpen else { return }
            run.drain(within: limit) { remaining in
                observer.scope.enter { observer.emitOnly(remaining) }
            }
        }
    }
}

// MARK: - Dead letters

/// The key with which a dead letter is sent again.
public enum OutboxRevival: Sendable, Hashable {
    /// The same key, if the server still knows it: the server may repeat the answer of the former attempts. Without a key,
    /// only an entry that has certainly not been executed, or that may be executed several times.
    case sameKey
    /// A new key, or a new request without one. The entry is executed again if a former attempt has been executed: check
    /// that before.
    case newKey
}

extension Outbox {
    /// The entries of the store in order, those that wait and dead letters. One value, then the end.
    public func entries() -> Observable<[OutboxEntry], NetworkError> {
        run.store.load().map { $0.entries }
    }

    /// The dead letters in order. One value, then the end.
    public func deadLetters() -> Observable<[OutboxEntry], NetworkError> {
        run.store.load().map { $0.entries.filter { $0.delivery.deadReason != nil } }
    }

    /// The stored endpoint of an entry. One value, then the end. Fails with `undelivered` if there is no such entry, or
    /// its endpoint cannot be read.
    public func endpoint<E: OutboxEndpoint>(
        _ type: E.Type, of id: OutboxID
    ) -> Observable<E, NetworkError> {
        stored(id) { types, entry, content throws(OutboxFormError) in
            try types.decode(type, of: entry, content)
        }
    }

    /// The stored JSON of an entry, opened if it is sealed, for entries that no type can read. One value, then the end.
    public func content(of id: OutboxID) -> Observable<Data, NetworkError> {
        stored(id) { types, entry, content throws(OutboxFormError) in
            try types.content(of: entry, content)
        }
    }

    /// Sends a dead letter again. One value once that is stored, then the end. Fails with `undelivered` if there is no
    /// such dead letter, if somebody else has decided about it meanwhile, or if its key is to be kept, and the life of the
    /// key is over, or there is none and the entry may have been executed.
    ///
    /// - Parameters:
    ///   - id: the id of the dead letter, which it keeps.
    ///   - revival: the key to use.
    public func sendAgain(_ id: OutboxID, with revival: OutboxRevival) -> Observable<Void, NetworkError> {
        revive(id, revival, nil as Data?)
    }

    /// Replaces the endpoint of a dead letter, and sends it: with a new key if the server compares bodies
    /// (``KeyRules/comparesBody``) or may have forgotten the former key; otherwise with its key, so that an entry that has
    /// been executed before is not executed again. With a new key, or without one, the entry is executed again if a former
    /// attempt has been executed: check that before. Fails as ``sendAgain(_:with:)`` and
    /// ``enqueue(_:key:order:replacing:lifetime:)`` do.
    public func edit<E: OutboxEndpoint>(_ id: OutboxID, to endpoint: E) -> Observable<Void, NetworkError> {
        .deferred { [self] () throws(NetworkError) in
            let content = try run.endpointTypes.encode(endpoint)
            return run.describe(endpoint.attachments).flatMap { attachments in
                self.revive(id, nil, content, as: E.self, attachments)
            }
        }
    }

    /// Removes a dead letter. One value once that is stored, then the end; fails with `undelivered` if there is no such
    /// dead letter.
    public func remove(_ id: OutboxID) -> Observable<Void, NetworkError> {
        run.operate(.discard(id))
    }

    private func revive(
        _ id: OutboxID, _ revival: OutboxRevival?, _ content: Data?,
        as type: (any OutboxEndpoint.Type)? = nil, _ attachments: [OutboxAttachment]? = nil
    ) -> Observable<Void, NetworkError> {
        run.store.load().flatMap { [run] snapshot throws(NetworkError) in
            guard var entry = snapshot.entries.first(where: { $0.id == id }),
                entry.delivery.deadReason != nil
            else { throw NetworkError(.undelivered, "the outbox has no dead letter \(id)") }
            let now = run.currentDate
            switch revival ?? entry.revivalOfEdit(at: now) {
            case .sameKey:
                guard entry.guarantee != .atMostOnce || entry.delivery.mayHaveArrivedSince == nil else {
                    throw NetworkError(
                        .undelivered,
                        "\(id) has no key and may have been executed; check that, and send it as a new request"
                    )
                }
                if let end = entry.keyEnd, now >= end {
                    throw NetworkError(
                        .undelivered,
                        "the server may have forgotten the key of \(id); check whether it was executed, and use a new key"
                    )
                }
            case .newKey:
                if case .key(_, let rules) = entry.guarantee {
                    entry.terms.guarantee = .key(UUID.ordered(at: now).uuidString, rules)
                    entry.terms.isKeyGiven = nil
                }
                entry.delivery.mayHaveArrivedSince = nil
            }
            if let type {
                entry.terms.name = type.outboxName
                entry.terms.version = type.outboxVersion
                entry.terms.isSealed = run.endpointTypes.isSealing
                entry.terms.attachments = attachments ?? []
            }
            // `since` stays: the store compares it, see ``OutboxChange/isAllowed(for:)``.
            entry.delivery.attempts = 0
            entry.delivery.phase = .queued
            entry.terms.expires = run.configuration.lifetime.map { now + $0 }
            return run.operate(.revive(entry, content))
        }
    }

    private func stored<Value: Sendable>(
        _ id: OutboxID,
        _ read: @escaping @Sendable (EndpointTypes, OutboxEntry, Data) throws(OutboxFormError) -> Value
    ) -> Observable<Value, NetworkError> {
        run.store.load().flatMap { [run] snapshot in
            run.store.content(of: id).map { content throws(NetworkError) in
                guard let entry = snapshot.entries.first(where: { $0.id == id }), let content else {
                    throw NetworkError(.undelivered, "the outbox has no entry \(id)")
                }
                do throws(OutboxFormError) { return try read(run.endpointTypes, entry, content) } catch {
                    throw NetworkError(.undelivered, error.description)
                }
            }
        }
    }
}

extension OutboxEntry {
    /// The key with which another endpoint is sent in the place of a dead one.
    fileprivate func revivalOfEdit(at now: Date) -> OutboxRevival {
        guard case .key(_, let rules) = guarantee, !rules.comparesBody else { return .newKey }
        if let keyEnd, now >= keyEnd { return .newKey }
        return .sameKey
    }
}
#else
/// An outbox; needs the package trait `Outbox`.
@available(*, unavailable, message: "enable the trait Outbox of the package RxNetworking")
public typealias Outbox = Never
#endif
