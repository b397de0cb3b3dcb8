import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import Synchronization

/// One request as the cache sees it: what it may be answered with, and what becomes of its answer.
final class CachedRequest: Sendable {
    let cache: ResponseCache
    /// Before signature, credential and cookies.
    let request: Request
    let key: CacheKey
    let mode: CacheMode
    let demand: CacheDemand
    /// For how long its answer is kept, where the app says so.
    let lifetime: Duration?
    let tags: Set<String>
    let jar: CookieJar?
    let decoder: JSONDecoder
    /// The number of the account that asks, if a session has it.
    let account: Int?
    private let progress = Mutex(Progress())

    private struct Progress {
        /// What is kept, and may be used if the server fails.
        var kept: CacheEntry?
        var flight: CacheFlights.Flight?
    }

    /// `nil` where `policy` has nothing to do with such a request.
    init?(
        _ request: Request, in cache: ResponseCache, _ policy: CachePolicy, _ mode: CacheMode,
        asker: CacheAsker, tags: Set<String>, jar: CookieJar?, decoder: JSONDecoder
    ) {
        switch (policy, request.method) {
        case (.http, .get), (.http, .head):
            lifetime = nil
            key = CacheKey(rules: .http, url: request.cacheURL, identity: asker.identity(of: request))
        case (.time(let time), .get):
            lifetime = time
            key = CacheKey(rules: .time, url: request.cacheURL, identity: asker.identity(of: request))
        case (.post(let time), .post):
            guard let content = request.contentDigest else { return nil }
            lifetime = time
            key = CacheKey(
                rules: .time, method: "POST", url: request.cacheURL,
                identity: asker.identity(of: request), content: content)
        default: return nil
        }
        self.cache = cache
        self.request = request
        self.mode = mode
        demand = CacheDemand(mode, request)
        self.tags = tags
        self.jar = jar
        self.decoder = decoder
        account = asker.account
    }

    // MARK: - What is kept

    /// What is kept for the request, if there is anything.
    func find() -> Observable<CacheEntry?, NetworkError> {
        cache.store.entries(for: key)
            .catch { _ -> Observable<[CacheEntry], NetworkError> in
                self.cache.count { $0.storeFailures += 1 }
                return .just([])
            }
            .map { entries throws(NetworkError) -> CacheEntry? in
                let fitting = self.fitting(entries)
                guard let entry = fitting, self.isOver(entry, at: self.cache.currentDate()) else {
                    return fitting
                }
                self.cache.perform(self.cache.store.remove(.id(entry.metadata.id)))
                return nil
            }
    }

    /// The answer, where what is kept is at hand and may be used as it is; `nil` where ``find()`` has to look.
    func hit() -> Response? {
        guard demand.readsStore, let entry = cache.store.entriesAtHand(for: key).flatMap(fitting) else {
            return nil
        }
        let now = cache.currentDate()
        guard !isOver(entry, at: now),
            case .use(let isStale) = entry.metadata.terms.verdict(for: demand, at: now)
        else { return nil }
        return response(from: entry, isStale ? .stale : .fresh, at: now)
    }

    private func fitting(_ entries: [CacheEntry]) -> CacheEntry? {
        entries.first { $0.metadata.variant.matches(request, cookies: jar) }
    }

    /// Whether the app's own time for an answer is over: then it is dropped, and not merely stale.
    private func isOver(_ entry: CacheEntry, at now: Date) -> Bool {
        lifetime != nil && entry.metadata.terms.age(at: now) >= entry.metadata.terms.lifetime
    }

    /// The answer that is made of what is kept.
    func response(from entry: CacheEntry, _ use: CacheUse, at now: Date) -> Response {
        cache.count { if use == .stale { $0.staleServed += 1 } else { $0.hits += 1 } }
        let age = entry.metadata.terms.age(at: now)
        var response = Response(
            head: entry.metadata.head.telling(age: age), body: request.method == .head ? [] : entry.body,
            request: request, decoder: decoder)
        response.cacheUse = use
        return response
    }

    /// Notes what may be used if the server fails.
    func noteKept(_ entry: CacheEntry?) { progress.withLock { $0.kept = entry } }

    /// What may be used now that the server has failed (RFC 5861 §4).
    var fallback: CacheEntry? {
        guard let entry = progress.withLock({ $0.kept }),
            entry.metadata.terms.isUsableOnError(for: demand, at: cache.currentDate())
        else { return nil }
        return entry
    }

    /// Waits for the same answer as others.
    func note(_ flight: CacheFlights.Flight) { progress.withLock { $0.flight = flight } }

    // MARK: - Asking the server

    /// Adds what makes the server confirm an entry instead of sending it anew (RFC 9111 §4.3.1).
    func prepare(_ request: inout Request, confirming entry: CacheEntry?) {
        guard key.rules == .http else { return }
        demand.tell(&request, mode)
        guard let head = entry?.metadata.head else { return }
        if let tag = head[.eTag] { request.headerFields[.ifNoneMatch] = tag }
        if let date = head[.lastModified], Date(httpDate: date) != nil {
            request.headerFields[.ifModifiedSince] = date
        }
    }

    /// The kept answer with what a 304 says of it (RFC 9111 §4.3.4); `nil` if that means another one.
    func confirm(_ entry: CacheEntry, with response: Response) -> Response? {
        guard entry.metadata.head.hasSameTag(as: response.head) else {
            cache.perform(cache.store.remove(.id(entry.metadata.id)))
            return nil
        }
        cache.count { $0.revalidated += 1 }
        var entry = entry
        entry.metadata.head = entry.metadata.head.updated(by: response.head)
        entry.metadata.terms = terms(of: entry.metadata.head, response)
        if demand.writesStore, entry.metadata.head.isStorable, let variant = variant(of: entry.metadata.head)
        {
            entry.metadata.variant = variant
            cache.perform(cache.store.update(entry.metadata))
        } else {
            cache.perform(cache.store.remove(.id(entry.metadata.id)))
        }
        var confirmed = response
        confirmed.head = entry.metadata.head
        confirmed.body = entry.body
        confirmed.cacheUse = .revalidated
        return confirmed
    }

    // MARK: - Keeping

    /// Keeps the server's answer, where the rules let it and it is all there.
    func keep(_ response: Response) {
        guard demand.writesStore, request.method != .head, !response.isFromCache, response.isWhole,
            account == nil || response.request.credentialStamp?.identity == account,
            let metadata = metadata(of: response),
            progress.withLock({ $0.flight })?.claimKeeping() != false
        else { return }
        cache.count { $0.stored += 1 }
        cache.perform(cache.store.store(CacheEntry(metadata, body: response.body)))
    }

    private func metadata(of response: Response) -> CacheEntry.Metadata? {
        let head = response.head.storable
        if let lifetime {
            guard response.status.kind == .successful else { return nil }
            let terms = CacheTerms(date: cache.currentDate(), lifetime: lifetime / .seconds(1))
            return CacheEntry.Metadata(key: key, head: head, terms: terms, tags: tags)
        }
        // What a redirect led to is the answer to another URL.
        guard !response.isRedirected, response.head.isStorable, let variant = variant(of: head) else {
            return nil
        }
        return CacheEntry.Metadata(
            key: key, variant: variant, head: head, terms: terms(of: head, response), tags: tags)
    }

    private func terms(of head: ResponseHead, _ response: Response) -> CacheTerms {
        let now = cache.currentDate()
        return CacheTerms(
            head, aging: response.head, url: key.url, asked: now - response.metrics.total / .seconds(1),
            now: now)
    }

    private func variant(of head: ResponseHead) -> CacheVariant? {
        CacheVariant(head, to: request, cookies: jar)
    }
}

extension Response {
    /// Whether the body is as long as announced.
    fileprivate var isWhole: Bool {
        guard let length = head.contentLength, !head.isCoded else { return true }
        return length == body.count
    }
}
