#if Outbox
import FoundationEssentials
import RxClient
import RxHTTP
import RxLite

/// How entries come into the store.
extension OutboxRun {
    /// Stores an endpoint. From any thread.
    func enqueue<E: OutboxEndpoint>(
        _ endpoint: E, _ key: OutboxKey, _ order: OutboxOrder?, _ topic: String?, _ lifetime: Duration?,
        _ report: @escaping @Sendable (Result<OutboxID, NetworkError>) -> Void
    ) {
        guard endpoint.options.usesSession != false, let session = client.configuration.session else {
            return enqueue(endpoint, key, order, topic, lifetime, for: nil, report)
        }
        // The account is not known before.
        _ = session.restore().observe(
            onNext: {
                self.enqueue(endpoint, key, order, topic, lifetime, for: self.account, report)
            }, onEnd: { _ in })
    }

    private func enqueue<E: OutboxEndpoint>(
        _ endpoint: E, _ key: OutboxKey, _ order: OutboxOrder?, _ topic: String?, _ lifetime: Duration?,
        for account: String?, _ report: @escaping @Sendable (Result<OutboxID, NetworkError>) -> Void
    ) {
        let now = currentDate
        let (content, guarantee): (Data, DeliveryGuarantee)
        do throws(NetworkError) {
            guarantee = try DeliveryGuarantee(key, at: now)
            content = try endpointTypes.encode(endpoint)
        } catch {
            return report(.failure(error))
        }
        let terms = OutboxEntry.Terms(
            name: E.outboxName, version: E.outboxVersion, guarantee: guarantee, order: order, topic: topic,
            account: account, created: now,
            expires: (lifetime ?? configuration.lifetime).map { now + $0 }, isSealed: endpointTypes.isSealing,
            isKeyGiven: key.isGiven ? true : nil)
        let entry = OutboxEntry(id: OutboxID(rawValue: UUID.ordered(at: now).uuidString), terms)
        let paths = endpoint.attachments
        // Stores may encode entries here, outside of the lane.
        let adding = paths.isEmpty ? store.add(entry, content) : nil
        let refusal = NetworkError(.shutDown, "the outbox has been drained and takes no new entries")
        scope.enter {
            guard !self.isDraining else { return report(.failure(refusal)) }
            self.addingCount += 1
            if let adding { return self.add(entry, content, by: adding, report) }
            self.perform(self.describe(paths)) { result in
                guard !self.isStopped else {
                    self.addingCount -= 1
                    return report(.failure(refusal))
                }
                switch result {
                case .success(let attachments):
                    var entry = entry
                    entry.terms.attachments = attachments
                    self.add(entry, content, by: self.store.add(entry, content), report)
                case .failure(let error):
                    self.addingCount -= 1
                    report(.failure(error))
                }
            }
        }
    }

    private func add(
        _ entry: OutboxEntry, _ content: Data, by adding: Observable<OutboxAddition, NetworkError>,
        _ report: @escaping @Sendable (Result<OutboxID, NetworkError>) -> Void
    ) {
        perform(adding) { result in
            if case .success(.delivered(let id)) = result {
                return self.reportDelivered(id, entry, content, report)
            }
            switch result {
            case .success(.delivered): break
            case .failure(let error): report(.failure(error))
            case .success(.exists(let known, let stored)):
                guard self.endpointTypes.isSame(known, stored, as: entry, content) else {
                    report(.failure(Self.otherEntry))
                    break
                }
                if self.plan.entries[known.id] == nil { self.insert(known) }
                report(.success(known.id))
            case .success(.added(let sequence, let replaced)):
                // As ``count(_:)`` does for changes.
                self.revision = self.revision.map { $0 + 1 }
                for id in replaced {
                    self.plan.remove(id)
                    self.publish(.replaced, of: id)
                    self.events.send(.replaced(id))
                }
                var entry = entry
                entry.sequence = sequence
                self.insert(entry)
                self.events.send(.enqueued(entry))
                report(.success(entry.id))
            }
            self.addingCount -= 1
            self.advance()
        }
    }

    private static let otherEntry = NetworkError(
        .invalidParameters, "the outbox has, or had, another entry with this key; each entry needs its own")

    /// Reports the entry that was delivered with the key of another one.
    private func reportDelivered(
        _ id: OutboxID, _ entry: OutboxEntry, _ content: Data,
        _ report: @escaping @Sendable (Result<OutboxID, NetworkError>) -> Void
    ) {
        perform(store.receipt(of: id)) { result in
            report(
                result.flatMap { receipt in
                    if let receipt, self.endpointTypes.isOther(receipt, than: entry, content) {
                        return .failure(Self.otherEntry)
                    }
                    return .success(id)
                })
            self.addingCount -= 1
            self.advance()
        }
    }

    /// The files with their digests.
    func describe(_ paths: [String]) -> Observable<[OutboxAttachment], NetworkError> {
        OutboxAttachment.describe(paths, in: files)
    }

    var files: any FileSystem { client.configuration.files ?? client.transport.files }
}
#endif
