import FoundationEssentials
import HTTPTypes
import RxCache
import RxCookies
import RxHTTP
import RxLite
import Synchronization

/// One request as the cache sees it: the stored response that it may get, and the handling of a new one.
final class CachedRequest: Sendable {
    let cache: ResponseCache
    /// The request before signature, credential and cookies.
    let request: Request
    let key: CacheKey
    let mode: CacheMode
    let demand: CacheDemand
    /// How long the response is stored, if the app specifies it.
    let lifetime: Duration?
    let tags: Set<String>
    let decoder: JSONDecoder
    let requester: CacheRequester
    /// The time at which the request began.
    let start: CacheHistory.Moment
    private let progress = Mutex(Progress())

    private struct Progress {
        /// The stored entry, which may be used if the server fails.
        var fallback: CacheEntry?
        /// The response, until it has been accepted.
        var response: Response?
        /// The entry that the server is asked to revalidate.
        var entryToRevalidate: CacheEntry?
        var sharedRequest: InFlightRequests.SharedRequest?
    }

    /// Returns `nil` if `policy` does not apply to such a request.
    init?(
        _ request: Request, in cache: ResponseCache, _ policy: CachePolicy, _ mode: CacheMode,
        requester: CacheRequester, tags: Set<String>, decoder: JSONDecoder
    ) {
        start = cache.history.now
        // Keys are in the stores: a response whose request gets another key is lost.
        var key = CacheKey(rules: .time, url: request.cacheURL)
        switch (policy, request.method) {
        case (.http, .get), (.http, .head):
            lifetime = nil
            key.rules = .http
        case (.time(let time), .get): lifetime = time
        case (.post(let time), .post):
            guard let content = request.contentDigest else { return nil }
            lifetime = time
            (key.method, key.content) = ("POST", content)
        default: return nil
        }
        key.identity = requester.identity(of: request)
        self.key = key
        self.cache = cache
        self.request = request
        self.mode = mode
        self.requester = requester
        demand = CacheDemand(mode, request)
        self.tags = tags
        self.decoder = decoder
    }

    // MARK: - Lookup

    /// The stored entry for the request, if there is one.
    func find() -> Observable<CacheEntry?, NetworkError> {
        // Before the lookup; see ``fitting(_:without:)``.
        let overdue = cache.overdueRemovals
        return cache.store.entries(for: key)
            .catch { _ -> Observable<[CacheEntry], NetworkError> in
                self.cache.count { $0.storeFailures += 1 }
                return .just([])
            }
            .map { entries throws(NetworkError) -> CacheEntry? in
                let fitting = self.fitting(entries, without: overdue)
                self.cache.repeatRemovals(of: entries)
                guard let entry = fitting, self.isOver(entry, at: self.cache.currentDate()) else {
                    return fitting
                }
                self.cache.perform(self.cache.store.remove(.id(entry.metadata.id)))
                return nil
            }
    }

    /// The stored response, if it is immediately available and may be used unchanged; `nil` if ``find()`` has to
    /// look it up. A short form of ``find()`` with the verdict of `respond(joining:…)`; change all of them.
    func hit() -> Response? {
        guard demand.readsStore else { return nil }
        let overdue = cache.overdueRemovals
        guard let entries = cache.store.entriesInMemory(for: key),
            let entry = fitting(entries, without: overdue)
        else { return nil }
        let now = cache.currentDate()
        guard !isOver(entry, at: now),
            case .use(let isStale) = entry.metadata.freshness.verdict(for: demand, at: now)
        else { return nil }
        return response(from: entry, isStale ? .stale : .fresh, at: now)
    }

    /// - Parameter overdue: the removals that were overdue when the lookup began. One that succeeds meanwhile does not
    ///   include what the lookup has found before.
    private func fitting(
        _ entries: [CacheEntry], without overdue: Set<CacheSelection>
    ) -> CacheEntry? {
        let overdue = overdue.union(cache.overdueRemovals)
        var fields: HTTPFields?
        return entries.first { entry in
            // A store of the app may mix up keys that differ only in what it does not see.
            guard entry.metadata.key == key else { return false }
            guard !cache.history.invalidates(entry.metadata.id),
                !overdue.contains(where: { $0.includes(entry.metadata) })
            else { return false }
            let variant = entry.metadata.variant
            guard !variant.fields.isEmpty else { return true }
            fields = fields ?? requester.fields(of: request)
            return fields.map { variant.matches($0, secret: request.identifyingFields) } ?? false
        }
    }

    /// Whether the app's storage time for a stored response is over: then the response is dropped, not just
    /// stale.
    private func isOver(_ entry: CacheEntry, at now: Date) -> Bool {
        lifetime != nil && entry.metadata.freshness.age(at: now) >= entry.metadata.freshness.lifetime
    }

    /// Makes the response from an entry, and counts its use.
    func response(from entry: CacheEntry, _ use: Response.CacheUse, at now: Date) -> Response {
        cache.count { if use == .stale { $0.staleServed += 1 } else { $0.hits += 1 } }
        let age = entry.metadata.freshness.age(at: now)
        var response = Response(
            head: entry.metadata.head.telling(age: age), body: request.method == .head ? [] : entry.body,
            request: request, decoder: decoder)
        response.cacheUse = use
        return response
    }

    /// The selections of changes that concern the request.
    private var names: Set<CacheSelection> { CacheSelection.names(of: key, tags: tags) }

    /// Whether anything has changed since the awaited response was requested (RFC 9111 §4.4).
    var isSuperseded: Bool {
        cache.history.hasChanged(names, since: progress.withLock { $0.sharedRequest }?.start ?? start)
    }

    /// Records the entry that may be used if the server fails.
    func recordFallback(_ entry: CacheEntry?) { progress.withLock { $0.fallback = entry } }

    /// The entry that may be used now that the server has failed (RFC 5861 §4).
    var fallback: CacheEntry? {
        guard let entry = progress.withLock({ $0.fallback }), !cache.history.hasRemoved(names, since: start),
            entry.metadata.freshness.isUsableOnError(for: demand, at: cache.currentDate())
        else { return nil }
        return entry
    }

    /// Records the shared request that this one waits for.
    func record(_ sharedRequest: InFlightRequests.SharedRequest) {
        progress.withLock { $0.sharedRequest = sharedRequest }
    }

    /// Counts a retry of the request, for those that have joined it.
    func recordRetry() { progress.withLock { $0.sharedRequest }?.recordRetry() }

    /// The entry that the server is asked to revalidate, if any.
    var entryToRevalidate: CacheEntry? {
        get { progress.withLock { $0.entryToRevalidate } }
        set { progress.withLock { $0.entryToRevalidate = newValue } }
    }

    // MARK: - Storing

    /// Attaches a record to an attempt, into which the later stages write the header fields and cookies that are really
    /// sent. ``variant(of:_:)`` needs them for `Vary`.
    func recordFields(of request: inout Request) {
        let sentFields = SentFields()
        request.sentFields = sentFields
        progress.withLock { $0.sharedRequest }?.record(sentFields)
        // A custom `fetch` may not record the fields.
        if requester.servers == nil, let fields = requester.fields(of: request) { sentFields.record(fields) }
    }

    /// Records the unchanged response, to be stored if it is accepted.
    func record(_ response: Response) { progress.withLock { $0.response = response } }

    /// Stores the recorded response.
    func storePending() {
        let response = progress.withLock { progress in
            defer { progress.response = nil }
            return progress.response
        }
        if let response { store(response) }
    }

    /// Stores the server's response, if the rules allow it, the response is complete, and nothing has changed
    /// since it was requested. ``confirm(_:by:)`` decides the same after a 304; change both.
    func store(_ response: Response) {
        let sharedRequest = progress.withLock { $0.sharedRequest }
        let account = response.request.credentialVersion?.accountNumber
        // The claim comes last, since only one of the requests that share the response gets it.
        guard demand.writesStore, request.method != .head, !response.isFromCache, response.isWhole,
            requester.account == nil || account == requester.account,
            isSent(response), let metadata = metadata(of: response), sharedRequest?.claimStore() != false
        else { return }
        cache.store(CacheEntry(metadata, body: response.body), since: sharedRequest?.start ?? start)
    }

    /// Whether a server has sent the response, and no interceptor.
    func isSent(_ response: Response) -> Bool {
        let sentFields = response.request.sentFields
        // A custom `fetch` may return a response to any request.
        guard requester.servers != nil else { return sentFields?.isStandIn != true }
        return sentFields.map { $0.last != nil && !$0.isStandIn } ?? false
    }

    private func metadata(of response: Response) -> CacheEntry.Metadata? {
        let head = response.head.storable
        let freshness: CacheFreshness
        if let lifetime {
            guard response.status.kind == .successful else { return nil }
            freshness = CacheFreshness(date: cache.currentDate(), lifetime: lifetime / .seconds(1))
        } else {
            // A response after a redirect belongs to another URL.
            guard !response.isRedirected, response.head.isStorable else { return nil }
            freshness = self.freshness(of: head, response)
        }
        guard let variant = variant(of: head, response) else { return nil }
        return CacheEntry.Metadata(key: key, variant: variant, head: head, freshness: freshness, tags: tags)
    }

    /// The freshness of a stored head that has arrived or been confirmed with `response`.
    func freshness(of head: ResponseHead, _ response: Response) -> CacheFreshness {
        let now = cache.currentDate()
        return CacheFreshness(
            head, arrived: response.head, url: key.url, asked: now - response.metrics.total / .seconds(1),
            now: now)
    }

    /// The variant of a response, by the request fields that were sent.
    func variant(of head: ResponseHead, _ response: Response) -> CacheVariant? {
        let sent = response.request.sentFields?.last ?? requester.fields(of: request)
        let secret = request.identifyingFields
        guard let sent,
            let variant = CacheVariant(head, sent: sent, secret: secret, ignoringAny: lifetime != nil)
        else { return nil }
        // Which of these fields a redirect would carry to its target is unknown in advance.
        return response.isRedirected && variant.dependsOn(secret) ? nil : variant
    }
}

extension Response {
    /// Whether the body has the announced length.
    fileprivate var isWhole: Bool {
        guard let length = head.contentLength, !head.isCoded else { return true }
        return length == body.count
    }
}

// MARK: - The owner of a response

/// The account and the cookies of a request, as far as they separate responses. This is the only place where
/// the cache determines the owner of a response.
struct CacheRequester: Sendable {
    /// The caller's name for the requester; empty for none.
    var name = ""
    /// The session that adds the credential, if there is one.
    var session: Session?
    /// The number of the session's account.
    var account: Int?
    /// The jar that adds cookies, if there is one.
    var jar: CookieJar?
    /// The service whose servers share their cookies; `nil` for a request built by hand, as ``CachedRequest`` relies
    /// on.
    var servers: ServerPair?

    /// The identity of the requester: the account that is logged in, and a digest of the request's
    /// `Authorization`, `Cookie`, `Proxy-Authorization` and secret fields, and of the user and password for a
    /// digest challenge.
    func identity(of request: Request) -> String {
        // Part of the keys of stored responses, which a changed text would lose.
        let fields = request.headerFields
        let userInfo = request.userInfo
        guard !fields.isEmpty || request.digest != nil || userInfo != nil else { return name }
        let secret = request.identifyingFields
        var proofs = fields.filter { secret.contains($0.name) }.map {
            "\($0.name.canonicalName): \($0.value)"
        }
        if let digest = request.digest { proofs.append("digest \(digest.user):\(digest.password)") }
        if let userInfo { proofs.append("user info \(userInfo)") }
        guard !proofs.isEmpty else { return name }
        let text = proofs.sorted().joined(separator: "\n")
        return name + "/" + HexDigest.sha256(text.utf8)
    }

    /// The header fields that `request` would be sent with now; `nil` while a login is running or stored
    /// cookies are being read.
    func fields(of request: Request) -> HTTPFields? {
        var sent = request
        if let session, let account, !request.isCredentialFree {
            guard let authorized = try? session.authorized(request, for: account) else { return nil }
            sent = authorized
        }
        guard let jar, !request.isCredentialFree, let origin = cookieOrigin(of: request) else {
            return sent.headerFields
        }
        return jar.isRestored ? jar.adding(to: sent, at: origin, isSent: false)?.request.headerFields : nil
    }

    /// The cookies that the jar would add to `request` now. A request joins one in flight only if they are the same for
    /// both.
    func cookies(of request: Request) -> String {
        guard let jar, !request.isCredentialFree, let origin = cookieOrigin(of: request) else { return "" }
        return jar.adding(to: request, at: origin, isSent: false)?.added ?? ""
    }

    private func cookieOrigin(of request: Request) -> CookieOrigin? {
        guard let servers else { return CookieOrigin(request.url) }
        return servers.cookieOrigin(of: request.url)
    }
}

extension CacheRequester {
    /// The requester for the account that is logged in.
    init(_ session: Session) {
        let account = session.account
        self.session = session
        self.account = account.number
        name = account.name
    }
}
