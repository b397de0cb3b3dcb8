public import FoundationEssentials
import HTTPTypes
public import RxHTTP
public import RxLite

extension ResponseCache {
    /// The answer to a request made by hand: what is kept, where the rules let it be used, or what `fetch` gets.
    ///
    /// ```swift
    /// cache.response(to: request) { request in client.exchange(request).response(to: request) }
    /// ```
    ///
    /// `fetch` gets the request with the conditions that a kept answer needs, and gives any status; a 304 to these
    /// conditions becomes the kept answer. Whatever it gives is kept where the policy says so; by ``CachePolicy/http``
    /// that can be an error status, as RFC 9111 has it. Requests for the same that are under way at the same time are
    /// fetched once, by the first one's `fetch`. After a successful request of a method that is not safe, what is kept
    /// of its URL is removed.
    ///
    /// - Parameters:
    ///   - request: what is asked for.
    ///   - policy: which answers are kept. Default those of RFC 9111.
    ///   - mode: what this request wants. Default as the policy says.
    ///   - identity: who asks, where that is not seen from the request: answers of one are never given to another.
    ///     Default nobody.
    ///   - tags: names under which the answer can be removed.
    ///   - jar: where `fetch` takes the request's cookies from, for answers that vary by them.
    ///   - joins: whether it joins a request for the same. Default yes.
    ///   - decoder: how the answer decodes JSON.
    ///   - fetch: sends a request.
    public func response(
        to request: Request, policy: CachePolicy = .http, mode: CacheMode = .standard, identity: String = "",
        tags: Set<String> = [], cookies jar: CookieJar? = nil, joins: Bool = true,
        decoder: JSONDecoder = JSONDecoder(),
        fetching fetch: @escaping @Sendable (Request) -> Observable<Response, NetworkError>
    ) -> Observable<Response, NetworkError> {
        .deferred {
            let cached = CachedRequest(
                request, in: self, policy, mode, asker: CacheAsker(name: identity, jar: jar), tags: tags,
                decoder: decoder)
            guard let cached else { return fetch(request).changing(self, by: request) }
            if let hit = cached.hit() { return .just(hit) }
            let ask: @Sendable (CacheEntry?) -> Observable<Response, NetworkError> = { entry in
                cached.confirm(entry) { prepare in
                    var request = request
                    prepare(&request)
                    return fetch(request)
                }
            }
            return cached.answer(joining: joins ? .byHand : nil, asking: ask) { entry in
                ask(entry).kept(in: cached)
            }
            .map { response in
                guard response.status.isServerFailure, !response.isFromCache else { return response }
                return cached.fallback.map { cached.response(from: $0, .stale, at: self.currentDate()) }
                    ?? response
            }
            .fallingBack(on: cached, trace: nil)
            .kept(in: cached)
        }
    }
}
