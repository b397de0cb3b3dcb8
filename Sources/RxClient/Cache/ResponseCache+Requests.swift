public import FoundationEssentials
import HTTPTypes
public import RxCache
public import RxCookies
public import RxHTTP
public import RxLite

extension ResponseCache {
    /// The response to a handmade request: a stored one, if the rules allow its use, or the response of
    /// `fetch`.
    ///
    /// ```swift
    /// cache.response(to: request) { request in client.exchange(request).response(to: request) }
    /// ```
    ///
    /// `fetch` receives the request with the conditions that revalidate a stored response, and may return any
    /// status; a 304 to these conditions becomes the stored response. The policy decides which responses are
    /// stored; with ``CachePolicy/http`` that can include an error status, as in RFC 9111. Equal requests in
    /// flight at the same time are fetched once, by the `fetch` of the first one. An unsafe request whose
    /// response has a status of 2xx or 3xx removes the stored responses of its URL (RFC 9111 §4.4).
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - policy: the responses that are stored. Default: those that RFC 9111 allows.
    ///   - mode: the use of the cache by this request. Default: as the policy says.
    ///   - identity: the requester, if the request does not identify it: responses of one requester are never
    ///     given to another. Default: empty.
    ///   - tags: the tags by which the response can be removed.
    ///   - jar: the jar that `fetch` takes the request's cookies from, for responses that vary by them.
    ///   - joins: whether the request joins an equal request in flight. Default true.
    ///   - decoder: the decoder of the response's JSON.
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
                    cached.noteFields(of: &request)
                    return fetch(request)
                }
            }
            return cached.respond(joining: joins ? .byHand : nil, asking: ask) { entry in
                ask(entry).kept(in: cached)
            }
            .map { response in
                guard response.status.isServerFailure, !response.isFromCache else { return response }
                return cached.fallback.map { cached.response(from: $0, .stale, at: self.currentDate()) }
                    ?? response
            }
            .catch { error in
                guard error.isServerFailure, let stored = cached.fallingBack(nil) else { return .fail(error) }
                return stored
            }
            .kept(in: cached)
        }
    }
}
