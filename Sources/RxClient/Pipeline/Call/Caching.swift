import RxCache
import RxHTTP
import RxLite

/// Looks for a stored response that may be used, and waits for the response of an equal request that is under way.
struct Caching: Interceptor {
    func intercept(
        _ request: Request, in call: CallContext, _ next: Next
    ) -> Observable<CallEvent, NetworkError> {
        guard call.mayCache, let cached = call.cached(request) else { return next(request) }
        return Observable(scheduler: call.scheduler) { observer in
            // Who listens hears of the start first.
            if call.trace == nil, let hit = cached.hit() {
                return Observable<Response, NetworkError>.just(hit).validated(by: call.validation)
                    .map { .response($0) }.subscribe(observer)
            }
            // A request of the login joins none that may be waiting for that login.
            let joins = call.session?.isLoggingIn(observer.scope.lane) != true
            cached.respond(
                joining: joins ? ClientStages(of: call).map { .client($0) } : nil, trace: call.trace,
                validation: call.validation
            ) { entry in
                cached.confirmable = entry
                return next(request).responses(of: call)
            } refreshing: { _ in
                call.client.refreshed(call)
            }
            .map { response in
                // Before interceptors around the call make another of it.
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

    /// What the cache has to do with `request`; `nil` for nothing.
    fileprivate func cached(_ request: Request) -> CachedRequest? {
        let options = prepared.options
        var asker = CacheAsker()
        if let session, !request.isCredentialFree { asker = CacheAsker(session) }
        // Responses that cookies had to do with are not those of a request without.
        if client.configuration.cookies != nil, options.usesCookies == false {
            asker.name += " without cookies"
        }
        asker.jar = cookies
        asker.servers = prepared.servers
        cached = CachedRequest(
            request, in: client.configuration.cache, options.cachePolicy ?? .never,
            settings.isRefresh ? .noCache : options.cacheMode ?? .standard, asker: asker, tags: options.tags,
            decoder: client.configuration.decoder)
        return cached
    }
}
