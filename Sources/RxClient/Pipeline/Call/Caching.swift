import RxCache
import RxHTTP
import RxLite

/// Looks for a usable stored response, and joins an equal request in flight.
struct Caching: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard call.mayCache else { return next(request) }
        return Observable(scheduler: call.scheduler) { observer in
            let response = response(to: request, in: call, next)
            // The name of the account is known once its credential is.
            guard let session = call.session, !request.isCredentialFree, !session.isRestored,
                !session.isLoggingIn(observer.scope.lane)
            else { return response.subscribe(observer) }
            session.restore().setFailureType(to: NetworkError.self).flatMap(.concat) { response }
                .subscribe(observer)
        }
    }

    private func response(
        to request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        Observable(scheduler: call.scheduler) { observer in
            let account = request.isCredentialFree || call.session == nil ? nil : call.account
            if let account, !account.isCurrent {
                return observer.scope.perform { observer.fail(account.departure(of: request)) }
            }
            guard let cached = call.cached(request) else { return next(request).subscribe(observer) }
            // Listeners learn of the start first.
            if call.trace == nil, let hit = cached.hit() {
                return Observable<Response, NetworkError>.just(hit).validated(by: call.validation)
                    .map { .response($0) }.subscribe(observer)
            }
            // A request of the login does not join requests that may wait for that login.
            let joins = call.session?.isLoggingIn(observer.scope.lane) != true
            cached.respond(
                joining: joins ? ClientStages(of: call).map { .client($0) } : nil, trace: call.trace,
                validation: call.validation, retrying: { call.wait(after: $0, sharing: $1) }
            ) { entry in
                cached.confirmable = entry
                return next(request).responses(of: call)
            } refreshing: { _ in
                call.client.refreshed(call)
            }
            .map { response in
                // Records the response before interceptors around the call change it.
                cached.note(response)
                return .response(response)
            }
            .subscribe(observer)
        }
    }
}

extension CallContext {
    /// Whether responses may be stored.
    var mayCache: Bool { (prepared.options.cachePolicy ?? .never) != .never }

    /// The cache's view of `request`; `nil` if the cache does not apply.
    fileprivate func cached(_ request: Request) -> CachedRequest? {
        let options = prepared.options
        var asker = CacheAsker()
        if let session, !request.isCredentialFree { asker = CacheAsker(session) }
        // Responses to requests with cookies are not reused for requests without cookies.
        if client.configuration.cookies != nil, options.usesCookies == false {
            asker.name += " without cookies"
        }
        asker.jar = cookies
        asker.servers = prepared.servers
        let mode = trace?.isCacheDisabled == true ? .reload : options.cacheMode ?? .standard
        cached = CachedRequest(
            request, in: client.configuration.cache, options.cachePolicy ?? .never,
            settings.isRefresh ? .noCache : mode, asker: asker, tags: options.tags,
            decoder: client.configuration.decoder)
        return cached
    }
}
