import RxCache
import RxHTTP
import RxLite

extension Client {
    /// What the cache is to do with a request; `nil` for nothing.
    func cached(
        _ attempts: Attempts, _ draft: Draft, _ mode: CacheMode
    ) throws(NetworkError) -> CachedRequest? {
        guard let policy = draft.options.cachePolicy, policy != .never else { return nil }
        let request = draft.isSigned ? try draft.unsigned() : attempts.request
        var asker = CacheAsker()
        if let session = session(for: draft), !request.isCredentialFree {
            asker = CacheAsker(session)
        }
        // Answers that cookies had to do with are not those of a request without.
        if configuration.cookies != nil, draft.options.usesCookies == false {
            asker.name += " without cookies"
        }
        asker.jar = cookies(for: draft)
        asker.servers = draft.servers
        return CachedRequest(
            request, in: configuration.cache, policy, mode, asker: asker, tags: draft.options.tags,
            decoder: configuration.decoder)
    }

    /// The answer from the cache, or from `ask`, which may be that of another request for the same. Looks at what is at
    /// hand when it is called, once for each subscription.
    func answer(
        _ cached: CachedRequest?, joining stages: @escaping @Sendable () -> ClientStages?,
        _ session: Session?, _ trace: Trace?,
        opening: Opening,
        asking ask: @escaping @Sendable (CacheEntry?) -> CachedRequest.Responses,
        refreshing refresh: @escaping @Sendable () -> CachedRequest.Responses
    ) -> CachedRequest.Responses {
        guard let cached else { return ask(nil) }
        // Who listens hears of the start first.
        if trace == nil, let hit = cached.hit() {
            return CachedRequest.Responses.just(hit).opened(by: opening)
        }
        return Observable(scheduler: scheduler) { observer in
            // A request of the login joins none that may be waiting for that login.
            let joins = session?.isLoggingIn(observer.scope.lane) != true
            cached.answer(
                joining: joins ? stages().map { .client($0) } : nil, trace: trace, opening: opening,
                asking: ask,
                refreshing: { _ in refresh() }
            )
            .subscribe(observer)
        }
    }
}
