import HTTPTypes
import RxCache
import RxCookies
import RxHTTP
import RxLite

// The stages around an exchange on the wire, in the order of the list.

/// Follows redirects, and upgrades to https for hosts with HSTS: each hop is an exchange.
///
/// The next exchange begins as soon as a head asks for it. Body bytes that arrived together with that head are read, so
/// that the connection can be reused; the rest of the body is not awaited. ``ExchangeChain`` does the same for
/// transports without a client; change both.
final class Redirects: RequestStage, EventStage, EndStage {
    /// The redirects of one attempt.
    struct Hops {
        /// The index of the stage in the list.
        let stageIndex: Int
        /// The request of the current exchange.
        var request: Request
        var count = 0
        /// The next request, and the head that asks for it, while the current response is read.
        var next: CopyOnWrite<(request: Request, head: ResponseHead)>?
        /// The bytes of the current response that were read and not delivered.
        var discarded = 0
    }

    func send(_ request: inout Request, _ walk: Walk) -> Step {
        walk.context.firstRequest = nil
        walk.memory.hops = nil
        let transport = walk.call.client.transport
        guard request.digest == nil else {
            // Before `rest`, which copies the context.
            walk.context.firstRequest = CopyOnWrite(wrappedValue: request)
            return .transfer(
                Subtransport(walk.rest, over: transport).send(request, following: policy(of: walk.call)))
        }
        guard let hsts = transport.hsts else {
            walk.memory.hops = Hops(stageIndex: walk.stageIndex, request: request)
            return .next
        }
        guard hsts.isRestored else {
            let original = request
            // Deferred, so that what follows runs in the lane of the walk.
            return .wait(
                for: Observable<Void, NetworkError>.deferred { hsts.restored }
                    .map { self.begin(original, by: hsts, walk) })
        }
        request = begin(request, by: hsts, walk)
        return .next
    }

    private func begin(_ request: Request, by hsts: HSTSStore, _ walk: Walk) -> Request {
        let upgraded = request.upgraded(by: hsts, at: walk.call.client.transport.scheduler.currentDate)
        walk.memory.hops = Hops(stageIndex: walk.stageIndex, request: upgraded ?? request)
        if let upgraded { announce(upgraded, by: .upgrade, walk) }
        return upgraded ?? request
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) throws(NetworkError) -> Bool {
        // With digest authentication, the `ExchangeChain` of the subtransport has followed the redirect.
        guard walk.memory.hops != nil else {
            if case .transfer(let part) = event, case .redirected = part { emit(part, walk) }
            return true
        }
        guard walk.memory.hops?.next == nil else {
            guard case .transfer(let part) = event else { return true }
            if case .chunk(let bytes) = part { discard(bytes.count, walk) }
            return false
        }
        guard event.statusKind == .redirection, let head = event.head, let hops = walk.memory.hops,
            let next = try walk.call.client.transport.redirect(
                hops.request, to: head, by: policy(of: walk.call), count: hops.count)
        else { return true }
        walk.memory.hops?.next = CopyOnWrite(wrappedValue: (next, head))
        walk.afterArrivals { self.leave(walk) }
        return false
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        // The undelivered body is not needed, even if it failed.
        if let next = follow(walk) { return .again(next, after: nil) }
        // An exchange was sent, so retries, failover and outbox must not take the request for unsent.
        if let hops = walk.memory.hops, hops.count > 0, case .failed(var error) = completion {
            error.isUnsent = false
            completion = .failed(error)
        }
        walk.memory.hops = nil
        return .end
    }

    func cancel(_ walk: Walk) { walk.memory.hops = nil }

    private func discard(_ count: Int, _ walk: Walk) {
        let discarded = (walk.memory.hops?.discarded ?? 0) + count
        walk.memory.hops?.discarded = discarded
        if discarded > ExchangeChain.discardLimit { leave(walk) }
    }

    /// Leaves the current exchange for the next one.
    private func leave(_ walk: Walk) {
        guard let index = walk.memory.hops?.stageIndex, walk.memory.hops?.next != nil else { return }
        walk.leave(backTo: index + 1)
        if let next = follow(walk) { walk.descend(with: next, to: index + 1) }
    }

    private func follow(_ walk: Walk) -> Request? {
        guard var hops = walk.memory.hops, let (request, head) = hops.next.take()?.wrappedValue else {
            return nil
        }
        // The cookies of all exchanges belong to the account of the first request.
        if hops.count == 0 { walk.context.firstRequest = CopyOnWrite(wrappedValue: hops.request) }
        hops.request = request
        hops.count += 1
        hops.discarded = 0
        walk.memory.hops = hops
        announce(request, by: head, walk)
        return request
    }

    private func announce(_ request: Request, by head: ResponseHead, _ walk: Walk) {
        let event = TransferEvent.redirected(request, by: head)
        emit(event, walk)
        if let index = walk.memory.hops?.stageIndex { walk.ascend(.transfer(event), from: index) }
    }

    private func emit(_ event: TransferEvent, _ walk: Walk) {
        if let trace = walk.call.trace, trace.isShown { trace.emit(.transfer(event)) }
    }

    private func policy(of call: CallContext) -> RedirectPolicy {
        call.overrides.redirects ?? call.client.configuration.redirects
    }

    /// The later stages, as the transport of the exchanges of a request with Digest credentials, which takes one or more
    /// for each hop.
    private final class Subtransport: Transport {
        private let transport: any Transport
        private let next: Next

        init(_ next: Next, over transport: any Transport) {
            self.transport = transport
            self.next = next
        }

        var scheduler: any Scheduler { transport.scheduler }
        var hsts: HSTSStore? { transport.hsts }
        var files: any FileSystem { transport.files }

        func send(_ request: Request) -> Observable<TransferEvent, NetworkError> { next.transfers(request) }
    }
}

/// Tells the cache about requests that may change a resource at the server (RFC 9111 §4.4).
final class CacheInvalidation: RequestStage, EventStage, EndStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        walk.memory.change = nil
        guard !request.isSafe else { return .next }
        let call = walk.call
        let change = CacheChange(
            request, in: call.client.configuration.cache, at: call.prepared.servers,
            mayBeUpgraded: call.client.transport.hsts != nil)
        walk.memory.change = change
        change.begin()
        return .next
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        if let change = walk.memory.change, case .transfer = event, let head = event.head {
            change.end(with: head)
        }
        return true
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        if case .failed = completion { walk.memory.change?.end() }
        return .end
    }

    func cancel(_ walk: Walk) { walk.memory.change?.end() }
}

/// Adds the jar's cookies to the request, and stores the cookies of the response (RFC 6265).
final class CookieHandling: RequestStage, EventStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        let call = walk.call
        walk.context.storeCookies = nil
        // The exchanges of a redirect belong to the account of the first request.
        let first = walk.context.firstRequest?.wrappedValue ?? request
        guard let jar = call.cookies, !first.isCredentialFree else { return .next }
        let account = first.credentialVersion.flatMap { credentialVersion in
            call.client.configuration.session.map {
                CookieJar.Account(credentialVersion.accountNumber, of: $0.seed)
            }
        }
        guard !jar.isRestored else {
            request = adding(to: request, of: jar, as: account, walk)
            return .next
        }
        let original = request
        // Deferred, so that what follows runs in the lane of the walk.
        return .wait(
            for: Observable<Void, NetworkError>.deferred { jar.restoringIfPossible }
                .map { self.adding(to: original, of: jar, as: account, walk) })
    }

    private func adding(
        to request: Request, of jar: CookieJar, as account: CookieJar.Account?, _ walk: Walk
    ) -> Request {
        guard let origin = walk.call.prepared.servers.cookieOrigin(of: request.url) else { return request }
        // A request joins one in flight only if the cookies recorded here are its own; empty means none.
        guard let (sent, cookies, epoch) = jar.adding(to: request, at: origin, as: account) else {
            request.sentFields?.record(cookies: "")
            return request
        }
        request.sentFields?.record(cookies: cookies)
        walk.context.storeCookies = { head in
            jar.store(head, for: request, at: origin, epoch: epoch, as: account)
        }
        return sent
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        if let store = walk.context.storeCookies, case .transfer = event, let head = event.head {
            store(head)
        }
        return true
    }
}

/// Reports the exchange to ``Client/traffic`` and to instruments, which may add fields. It is the stage next to the
/// network, so the report is exactly what is sent: every hop, with every field.
final class ExchangeTracing: RequestStage, EventStage, EndStage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        guard let trace = walk.call.trace else { return .next }
        walk.memory.exchange = ExchangeTrace(
            &request, of: trace, at: walk.context.server, walk.context.host, stageIndex: walk.stageIndex)
        return trace.emulated(request, walk.rest).map { .transfer($0) } ?? .next
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        guard let exchange = walk.memory.exchange, case .transfer(let part) = event else { return true }
        exchange.receive(part)
        guard case .head(let head) = part, head.status == .switchingProtocols else { return true }
        walk.ascend(event, from: exchange.stageIndex)
        // The client has checked the handshake, unless it has ended the exchange.
        exchange.recordUpgrade()
        return false
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        walk.memory.exchange.take()?.end(completion)
        return .end
    }

    func cancel(_ walk: Walk) { walk.memory.exchange.take()?.abandon() }
}

/// Sends the request over the transport, or emits the response that an interceptor has given instead.
final class Sending: RequestStage {
    var seesStandIns: Bool { true }

    func send(_ request: inout Request, _ walk: Walk) -> Step {
        guard let response = walk.context.standIn?.wrappedValue else {
            // The cache distinguishes variants by the fields that a request is sent with.
            request.sentFields?.record(request.headerFields)
            walk.context.onSend?()
            return .transfer(walk.call.client.transport.send(request))
        }
        var events: [TransferEvent] = response.interim.map { .interim($0) }
        events.append(.head(response.head))
        if !response.body.isEmpty { events.append(.chunk(response.body)) }
        if !response.trailers.isEmpty { events.append(.trailers(response.trailers)) }
        events.append(.finished(response.metrics))
        return .transfer(.sequence(events))
    }
}
