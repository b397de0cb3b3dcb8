#if Outbox
public import FoundationEssentials
public import RxClient
public import RxHTTP
public import RxLite

/// A stored entry and its progress. After a restart, ``Outbox/ticket(_:of:)`` finds the entry by its ``id``.
public struct OutboxTicket<E: OutboxEndpoint>: Sendable {
    /// The id of the entry.
    public let id: OutboxID
    let run: OutboxRun

    /// The progress of the entry: the current one, then each new one. Ends after ``OutboxProgress/delivered(_:)``,
    /// ``OutboxProgress/replaced`` and ``OutboxProgress/gone``, and when the outbox is closed; not after
    /// ``OutboxProgress/dead(_:)``, since a dead letter can be sent again.
    ///
    /// ```swift
    /// ticket.progress.subscribe { progress in
    ///     if case .delivered(let receipt) = progress { show(receipt) }
    /// }
    /// ```
    public var progress: Observable<OutboxProgress<E.Output>, Never> {
        Observable { [run, id] observer in
            run.watch(id, observer.scope) { update in
                observer.scope.enter {
                    guard let progress = update.progress(E.self, in: run) else { return observer.finish() }
                    observer.next(progress)
                    if progress.isFinal, observer.scope.isOpen { observer.finish() }
                }
            }
        }
    }

    /// The result, once the entry has been delivered. Fails when it is dead, replaced or gone: with `undelivered`, and the
    /// reason as the message. Finishes without a value when the outbox is closed before.
    ///
    /// ```swift
    /// let receipt = try await ticket.output().value()
    /// ```
    public func output() -> Observable<E.Output, NetworkError> {
        progress.flatMap { progress -> Observable<E.Output, NetworkError> in
            switch progress {
            case .delivered(let output): .just(output)
            case .dead(let reason): .fail(NetworkError(.undelivered, "\(reason)"))
            case .replaced: .fail(NetworkError(.undelivered, "replaced by a later entry"))
            case .gone: .fail(NetworkError(.undelivered, "the outbox has no such entry any more"))
            case .queued, .sending, .waiting: .empty()
            }
        }.take(1)
    }
}

/// The progress of an entry.
public enum OutboxProgress<Output: Sendable>: Sendable {
    /// It is stored, and has not been sent yet.
    case queued
    /// It is being sent; with the number of the attempt, from 1.
    case sending(attempt: Int)
    /// It will be sent again, not before this time. An entry that waits for its account has no time:
    /// `Date.distantFuture`.
    case waiting(until: Date, WaitReason)
    /// It has been delivered, now or before. The store keeps its receipt for the time of ``OutboxReceiptRules``.
    case delivered(Output)
    /// It is a dead letter.
    case dead(DeadReason)
    /// A later entry with the same topic has replaced it.
    case replaced
    /// The store does not have it, or not any more: it was removed, or delivered, and its receipt is not kept any more.
    case gone

    /// Whether nothing follows.
    var isFinal: Bool {
        switch self {
        case .delivered, .replaced, .gone: true
        case .queued, .sending, .waiting, .dead: false
        }
    }
}

/// News of an entry, before the type of its output is known.
enum OutboxUpdate: Sendable {
    case entry(OutboxEntry)
    case delivered(any Sendable)
    /// It has been delivered before.
    case receipt(OutboxReceipt)
    case replaced
    case gone
    /// The outbox is closed, and learns nothing more of the entry.
    case closed

    func progress<E: OutboxEndpoint>(_ type: E.Type, in run: OutboxRun) -> OutboxProgress<E.Output>? {
        switch self {
        case .entry(let entry):
            switch entry.delivery.phase {
            case .queued: .queued
            case .sending: .sending(attempt: entry.delivery.attempts)
            case .waiting(let until, let reason): .waiting(until: until, reason)
            case .dead(let reason): .dead(reason)
            }
        case .delivered(let output): (output as? E.Output).map { .delivered($0) } ?? .gone
        case .receipt(let receipt):
            run.endpointTypes.output(type, of: receipt, run.client.configuration.decoder).map {
                .delivered($0)
            }
                ?? .gone
        case .replaced: .replaced
        case .gone: .gone
        case .closed: nil
        }
    }

    var isFinal: Bool {
        if case .entry = self { false } else { true }
    }
}

extension NetworkError.Code {
    /// An entry of an outbox will not be delivered.
    public static let undelivered = NetworkError.Code(rawValue: "undelivered")
}
#endif
