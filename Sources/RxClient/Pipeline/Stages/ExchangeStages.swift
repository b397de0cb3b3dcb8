import RxCache
import RxCookies
import RxHTTP
import RxLite

// The stages around an exchange on the wire, in the order of the list.

/// Follows redirects, and upgrades to https for hosts with HSTS: each hop is an exchange.
struct Redirects: Stage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        let (call, rest) = (walk.call, walk.rest)
        return .transfer(
            Hops(
                call.cookies == nil ? rest : rest.following(redirectsOf: request), over: call.client.transport
            )
            .send(request, following: call.settings.redirects ?? call.client.configuration.redirects)
            .redirectsTraced(by: call.trace))
    }

    /// The later stages, as the transport of the exchanges.
    private final class Hops: Transport {
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
struct CacheInvalidation: Stage {
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
        if let change = walk.memory.change, case .transfer(.head(let head)) = event { change.end(with: head) }
        return true
    }

    func end(_ completion: inout Completion<NetworkError>, _ walk: Walk) -> Continuation {
        if case .failed = completion { walk.memory.change?.end() }
        return .end
    }

    func cancel(_ walk: Walk) { walk.memory.change?.end() }
}

/// Adds the jar's cookies to the request, and stores the cookies of the response (RFC 6265).
struct CookieHandling: Stage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        let call = walk.call
        walk.memory.cookies = nil
        // The exchanges of a redirect belong to the account of the first request.
        let first = walk.route.first?.wrappedValue ?? request
        guard let jar = call.cookies, !first.isCredentialFree else { return .next }
        let account = first.credentialVersion.flatMap { stamp in
            call.client.configuration.session.map {
                CookieJar.Account(stamp.identity, of: $0.seed)
            }
        }
        guard !jar.isRestored else {
            request = adding(to: request, of: jar, as: account, walk)
            return .next
        }
        let original = request
        // Deferred, so that what follows runs in the lane of the walk.
        return .wait(
            for: Observable<Void, NetworkError>.deferred { jar.restored }
                .map { self.adding(to: original, of: jar, as: account, walk) })
    }

    private func adding(
        to request: Request, of jar: CookieJar, as account: CookieJar.Account?, _ walk: Walk
    ) -> Request {
        guard let origin = walk.call.prepared.servers.cookieOrigin(of: request.url) else { return request }
        guard let (sent, cookies, epoch) = jar.adding(to: request, at: origin, as: account) else {
            request.sentFields?.note(cookies: "")
            return request
        }
        request.sentFields?.note(cookies: cookies)
        walk.memory.cookies = { head in jar.store(head, for: request, at: origin, epoch: epoch, as: account) }
        return sent
    }

    func receive(_ event: inout CallEvent, _ walk: Walk) -> Bool {
        if let store = walk.memory.cookies, case .transfer(.head(let head)) = event { store(head) }
        return true
    }
}

/// Reports the exchange to ``Client/traffic`` and to instruments, which may add fields. It is the stage next to the
/// network, so the report is exactly what is sent: every hop, with every field.
struct ExchangeTracing: Stage {
    func send(_ request: inout Request, _ walk: Walk) -> Step {
        guard let trace = walk.call.trace else { return .next }
        let rest = walk.rest
        return .transfer(
            trace.exchange(request, at: walk.route.server, walk.route.host) { rest.transfers($0) })
    }
}

/// Sends the request over the transport, or emits the response that an interceptor has given instead.
struct Sending: Stage {
    var readsResponse: Bool { true }

    func send(_ request: inout Request, _ walk: Walk) -> Step {
        guard let response = walk.route.response?.wrappedValue else {
            // The cache distinguishes variants by the fields that a request is sent with.
            request.sentFields?.note(request.headerFields)
            walk.route.onSend?()
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
