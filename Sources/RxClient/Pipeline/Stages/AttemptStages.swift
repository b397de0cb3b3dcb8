import RxHTTP
import RxLite

// The stages around an attempt, in the order of the list.

/// Chooses the server of an attempt, and switches to the standby server when the main one does not respond,
/// as described at ``ClientConfiguration/failoverProbeInterval``.
final class ServerSelection: RequestStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        let (call, prepared, client) = (walk.call, walk.call.prepared, walk.call.client)
        // A retry in the same walk must not call the actions of the attempt before.
        walk.context.onSend = nil
        // A request that an interceptor has redirected to another origin carries no data of the service.
        let isElsewhere = request.isCredentialFree && Origin(request.url) != prepared.servers.main.origin
        guard prepared.isAtService, !isElsewhere else {
            (walk.context.server, walk.context.host) = (nil, Origin(request.url).map { client.hosts[$0] })
            return .next
        }
        let main = prepared.servers.main
        guard let standby = prepared.servers.standby else {
            (walk.context.server, walk.context.host) = (main, main.host)
            return .next
        }
        guard prepared.server == nil, call.kind != .response else {
            let server = client.servers.role(for: prepared.server) == .main ? main : standby
            (walk.context.server, walk.context.host) = (server, server.host)
            return .next
        }
        let rest = walk.rest
        return .respond(
            with: rest.at(main, main.host)(request).failover(
                to: rest.at(standby, standby.host)(request), through: client.servers, at: prepared.servers,
                mayProbe: request.isRepeatable, isOverdue: { call.isOverdue }, trace: call.trace))
    }
}

/// Starts a second attempt in parallel to one that has been with the server for long.
final class HedgedAttempts: RequestStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        let (original, call, rest) = (request, walk.call, walk.rest)
        guard let hedging = call.prepared.options.hedging, hedging.isOn, request.isRepeatable,
            let host = walk.context.host
        else { return .next }
        let budget = host.budget
        return .respond(
            with: .hedged(
                by: hedging, host.latencies, on: call.scheduler, asking: { budget?.spend() ?? true },
                trace: call.trace
            ) { onSend in rest.reportingSends(to: onSend)(original) })
    }
}

/// Fails at once while the host's circuit is open; counts the outcome of each attempt.
///
/// ``Observable/circuitBreaker(_:)`` does the same for chains composed by hand, also by a ``CircuitPermit``; change
/// both.
final class CircuitBreaking: RequestStage, EventStage, EndStage {
    func send(_ request: inout Request, _ walk: Walk) throws(NetworkError) -> Step {
        walk.memory.permit = nil
        guard let breaker = walk.context.host?.breaker else { return .next }
        breaker.setClockIfUnset(walk.call.scheduler)
        guard let question = breaker.question() else {
            try admit(walk, by: breaker)
            return .next
        }
        let original = request
        return .wait(
            for: question.map { () throws(NetworkError) in
                try self.admit(walk, by: breaker)
                return original
            })
    }

    private func admit(_ walk: Walk, by breaker: CircuitBreaker) throws(NetworkError) {
        let call = walk.call
        let permit: CircuitPermit
        do throws(NetworkError) {
            // The connection of an event source always ends at some point, which is not a failure of the host.
            permit = try CircuitPermit(
                breaker, settlesWithHead: call.kind == .events || call.kind == .webSocket)
        } catch { throw call.attributed(error) }
        walk.memory.permit = permit
        let (former, scope) = (walk.context.onSend, walk.scope)
        walk.context.onSend = {
            former?()
            scope.enter { permit.didSend() }
        }
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        if case .transfer(let event) = event {
            walk.memory.permit?.record(event)
        } else {
            walk.memory.permit?.record(nil)
        }
        return true
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        walk.memory.permit.take()?.end(completion)
        return .end
    }

    func cancel(_ walk: Walk) { walk.memory.permit.take()?.abandon(isOverdue: walk.call.isOverdue) }
}

/// Waits for a slot within the client's limits, and holds it until the end of the attempt.
///
/// ``Observable/limited(by:host:within:)`` does the same for chains composed by hand, also by a ``QueueTurn``; change
/// both.
final class RequestLimiting: RequestStage, EventStage, EndStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        walk.memory.turn = nil
        let call = walk.call
        guard let limiter = call.client.hosts.limiter, let host = walk.context.host?.limits else {
            return .next
        }
        let limit = request.timeouts.queue
        let wait = QueueWait(
            limiter: limiter, host: host, limit: limit,
            isExempt: { scope in
                call.client.configuration.session?
                    .mayServeLogin(scope.lane, usesSession: call.session != nil) ?? false
            },
            onWait: { waited in call.trace?.emit(waited.map { .admitted(after: $0) } ?? .queued) },
            attribute: { call.attributed($0) })
        let turn = QueueTurn(wait, in: walk.scope)
        walk.memory.turn = turn
        guard !turn.enter() else { return .next }
        let original = request
        return .wait(
            for: turn.admission.map { waited in
                guard waited > .zero, let limit else { return original }
                var request = original
                // The rest of the time limit applies to the transport's queue.
                request.timeouts.queue = max(limit - waited, .nanoseconds(1))
                return request
            })
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        // What the server says is left holds back a rate that processes share; that of one process has its own stage
        // (``ServerRateLimiter``). A 429 holds back any, at the end.
        if let host = walk.context.host?.limits, let head = event.head {
            walk.call.client.hosts.limiter?.pause(host, after: head)
        }
        return true
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        walk.memory.turn.take()?.end(completion)
        return .end
    }

    func cancel(_ walk: Walk) { walk.memory.turn.take()?.leave() }
}

/// Begins an attempt: directs the request to its server, signs it, and adds the session's current credential,
/// for which it may have to wait. ``PreparedRequest/mayCarryCredential(_:of:)`` foresees whether it adds one; change
/// both.
final class Authorization: RequestStage {
    func send(_ request: inout Request, _ walk: Walk) throws(NetworkError) -> Step {
        let call = walk.call
        request = try call.attempt(request, at: walk.context.server, walk.context.host)
        guard let session = call.session, let account = call.account?.number, !request.isCredentialFree
        else { return .next }
        guard let authorized = try session.authorized(request, for: account) else {
            return .wait(
                for: session.authorize(request, for: account).map { request in
                    call.record(request.credentialVersion)
                    return request
                })
        }
        call.record(authorized.credentialVersion)
        request = authorized
        return .next
    }
}

/// Gathers the whole response in memory.
final class ResponseGathering: RequestStage, EventStage, EndStage {
    var seesStandIns: Bool { true }

    func send(_ request: inout Request, _ walk: Walk) -> Step {
        walk.memory.gatherer = ResponseGatherer(request, walk.call.client.configuration.decoder)
        return .next
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) throws(NetworkError) -> Bool {
        guard case .transfer(let part) = event else { throw walk.call.unexpected(event) }
        guard let response = try walk.memory.gatherer?.receive(part) else { return false }
        event = .response(response)
        return true
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        if case .finished = completion, walk.memory.gatherer?.isComplete == false,
            let error = walk.memory.gatherer?.failure
        {
            completion = .failed(error)
        }
        walk.memory.gatherer = nil
        return .end
    }

    func cancel(_ walk: Walk) { walk.memory.gatherer = nil }
}

/// Turns an unsuccessful status into an error, for the stages around attempts.
final class StatusCheck: RequestStage, EventStage, EndStage {
    var seesStandIns: Bool { true }

    func send(_ request: inout Request, _ walk: Walk) -> Step {
        let call = walk.call
        walk.memory.status = nil
        // If no stage looks at the outcome of attempts, the validation of the whole response checks the status.
        guard !call.kind.isWhole || call.looksAtAttempts else { return .next }
        walk.memory.status = StatusGate(
            request, accepting: Self.accepted(by: call.kind), call.validation.envelope,
            keeping: call.kind == .events || call.kind == .webSocket
                ? min(Self.refusalLimit, request.bodyLimit) : .max)
        return .next
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) throws(NetworkError) -> Bool {
        guard walk.memory.status != nil, case .transfer(let part) = event else { return true }
        return try walk.memory.status?.admits(part) ?? true
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        if let status = walk.memory.status { completion = status.end(completion) }
        return .end
    }

    /// The limit of the body with which a server refuses an event stream or a WebSocket. The status decides, and a larger
    /// body must not replace it by another error.
    private static let refusalLimit = 1 << 20

    // Made once, not for each request.
    private static let rangeNotSatisfiable: Set = [416]
    private static let switchingProtocols: Set = [101]
    private static let notModified: Set = [304]

    /// The unsuccessful statuses that stages further out need as responses: ``Reading`` those of a download
    /// and of a WebSocket, ``Revalidation`` the 304.
    private static func accepted(by kind: CallKind) -> Set<Int> {
        switch kind {
        case .download: rangeNotSatisfiable
        case .events, .stream: []
        case .webSocket: switchingProtocols
        default: notModified
        }
    }
}

extension CallContext {
    /// Whether a stage around attempts acts on their outcome; a new stage that does needs a term here.
    fileprivate var looksAtAttempts: Bool {
        client.hosts.limiter != nil || client.configuration.circuitBreaker != nil
            || prepared.options.hedging?.isOn == true || prepared.servers.standby != nil
            || !prepared.options.interceptors.attempt.isEmpty
    }
}

/// Reports the progress of an exchange in both directions.
struct ProgressReading: Interceptor {
    let upload: @Sendable (TransferProgress) -> Void
    let download: @Sendable (TransferProgress) -> Void

    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        next.transfers(request).reporting(upload: upload, download: download).map { .transfer($0) }
    }
}
