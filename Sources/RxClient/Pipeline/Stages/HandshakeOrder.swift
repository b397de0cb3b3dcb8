import RxHTTP
import RxLite

/// Lets the opening handshakes of WebSockets to one host and port follow one another (RFC 6455 §4.1): one begins when
/// the server has answered the one before, or that one has failed. ``HostRegistry/handshakes`` admits one at a time.
///
/// Hosts are compared by name. Their addresses are not known here, and a proxy hides them.
final class HandshakeOrder: RequestStage, EventStage, EndStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        walk.memory.handshake = nil
        guard let origin = Origin(request.url) else { return .next }
        let limiter = walk.call.client.hosts.handshakes
        let host = limiter.host("\(origin.host):\(origin.port)")
        let turn = QueueTurn(QueueWait(limiter: limiter, host: host, limit: nil), in: walk.scope)
        walk.memory.handshake = turn
        guard !turn.enter() else { return .next }
        let original = request
        return .wait(for: turn.admission.map { _ in original })
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        if event.head != nil { leave(walk) }
        return true
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        leave(walk)
        return .end
    }

    func cancel(_ walk: Walk) { leave(walk) }

    private func leave(_ walk: Walk) { walk.memory.handshake.take()?.leave() }
}
