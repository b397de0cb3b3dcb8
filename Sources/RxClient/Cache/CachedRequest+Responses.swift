import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxLite

extension CachedRequest {
    typealias Responses = Observable<Response, NetworkError>

    /// The response: the stored one, if it may be used, or the response of `ask`. ``hit()`` is the short form of the
    /// lookup and its verdict; change both.
    ///
    /// - Parameters:
    ///   - stages: the stages that must be equal for two requests to be joined; `nil` for a request that
    ///     joins no other.
    ///   - trace: receives the use of the cache.
    ///   - validation: validates a response that does not come from `ask`.
    ///   - wait: the wait before the request is repeated if the one that it has joined fails, after so many retries
    ///     since the joining; `nil` to fail as well.
    ///   - ask: asks the server, to revalidate an entry if there is one.
    ///   - refresh: revalidates an entry, and stores the response.
    func respond(
        joining stages: InFlightRequests.Stages?, trace: Trace? = nil,
        validation: Validation? = nil,
        retrying wait: @escaping @Sendable (NetworkError, Int) -> Observable<Void, Never>? = { _, _ in nil },
        asking ask: @escaping @Sendable (CacheEntry?) -> Responses,
        refreshing refresh: @escaping @Sendable (CacheEntry) -> Responses
    ) -> Responses {
        guard demand.readsStore else {
            return demand.onlyIfCached ? Responses.just(gatewayTimeout).validated(by: validation) : ask(nil)
        }
        return find().flatMap(.concat) { entry in
            let now = self.cache.currentDate()
            switch entry?.metadata.freshness.verdict(for: self.demand, at: now) {
            case .use(let isStale):
                return self.use(entry, isStale ? .stale : .fresh, trace).validated(by: validation)
            case .useAndRefresh:
                if let entry { self.cache.refresh(self.key, by: refresh(entry)) }
                return self.use(entry, .stale, trace).validated(by: validation)
            case .ask, nil:
                if entry == nil { self.cache.count { $0.misses += 1 } }
                guard !self.demand.onlyIfCached else {
                    return Responses.just(self.gatewayTimeout).validated(by: validation)
                }
                self.recordFallback(entry)
                // The conditions of a GET do not apply to a HEAD.
                let response = ask(self.request.method == .head ? nil : entry)
                return self.joined(stages, trace, response) { error, retries in
                    guard let due = wait(error, retries) else { return .fail(error) }
                    return due.flatMap(.concat) {
                        self.respond(
                            joining: stages, trace: trace, validation: validation, retrying: wait,
                            asking: ask, refreshing: refresh)
                    }
                }
            }
        }
    }

    private func use(_ entry: CacheEntry?, _ use: Response.CacheUse, _ trace: Trace?) -> Responses {
        guard let entry else { return .empty() }
        trace?.emitCached(use, entry.metadata.head, body: entry.body)
        return .just(response(from: entry, use, at: cache.currentDate()))
    }

    /// The response if the server must not be asked and nothing is stored (RFC 9111 §5.2.1.7).
    private var gatewayTimeout: Response {
        Response(head: ResponseHead(status: .gatewayTimeout), request: request, decoder: decoder)
    }

    /// `response`, or the response to an equal request in flight; if that one fails, the result of `recover` for the
    /// error and the number of its retries since the joining.
    private func joined(
        _ stages: InFlightRequests.Stages?, _ trace: Trace?, _ response: Responses,
        or recover: @escaping @Sendable (NetworkError, Int) -> Responses
    ) -> Responses {
        guard let stages, mode == .standard || mode == .forceCache else { return response }
        var common = request
        common.timeouts.total = nil
        let id = InFlightRequests.ID(
            key: key, account: requester.account, request: common.shape, mode: mode, lifetime: lifetime,
            tags: tags, stages: stages)
        let (sharedRequest, shared, isNew) = cache.inFlight.join(
            id, cookies: requester.cookies(of: request), since: start, in: cache.history, or: response)
        record(sharedRequest)
        guard !isNew else { return shared }
        cache.count { $0.joined += 1 }
        trace?.emitCached(.joined, nil)
        let retryCount = sharedRequest.retryCount
        return
            shared
            .map { response in
                var response = response
                response.request.id = self.request.id
                response.decoder = self.decoder
                if response.cacheUse == nil { response.cacheUse = .joined }
                return response
            }
            .catch { error in
                var own = error.attributed(to: self.request)
                own.attempt = error.attempt
                own.credentialVersion = error.credentialVersion
                return recover(own, sharedRequest.retryCount - retryCount)
            }
    }

    /// The entry to use when the response shows a failure of the server, or when there is no response.
    func fallingBack(_ trace: Trace?) -> Responses? {
        fallback.map { use($0, .stale, trace) }
    }
}

extension Observable<Response, NetworkError> {
    /// Stores the responses that the rules allow.
    func stored(in cached: CachedRequest) -> Observable {
        map { response in
            cached.store(response)
            return response
        }
    }

    /// Informs the cache about the outcome of a request built by hand that may change something. The stage
    /// ``CacheInvalidation`` does the same for clients; change both.
    func changing(_ cache: ResponseCache, by request: Request) -> Observable {
        guard !request.isSafe else { return self }
        let change = CacheChange(request, in: cache)
        return handleEvents(
            onSubscribe: { change.begin() },
            onNext: { change.end(with: $0.head, from: $0.url) },
            onEnd: { if case .failed = $0 { change.end() } }, onCancel: { change.end() })
    }
}

extension NetworkError {
    /// Whether the server was unreachable or unable to respond.
    var isServerFailure: Bool {
        code == .status ? status?.isServerFailure == true : code.recoveryOptions.contains(.staleResponse)
    }
}

extension HTTPResponse.Status {
    /// Whether `stale-if-error` applies to the status (RFC 5861 §4).
    var isServerFailure: Bool { [500, 502, 503, 504].contains(code) }
}
