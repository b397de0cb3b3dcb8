import FoundationEssentials
import HTTPTypes
import RxCache
import RxHTTP
import RxLite

// How the server is asked to confirm a stored response instead of sending it again, and what a 304 does (RFC 9111
// §4.3).

extension CachedRequest {
    /// Adds the conditions that let the server confirm an entry instead of sending it again (RFC 9111
    /// §4.3.1).
    func prepare(_ request: inout Request, revalidating entry: CacheEntry?) {
        // Otherwise a POST that is stored would remove responses to GET, as a command does. `PreparedRequest` does the
        // same for clients.
        if lifetime != nil, request.method == .post { request.isDeclaredSafe = true }
        guard key.rules == .http else { return }
        demand.addFields(to: &request, mode)
        guard let head = entry?.metadata.head else { return }
        if let tag = head[.eTag] { request.headerFields[.ifNoneMatch] = tag }
        if let date = head[.lastModified], Date(httpDate: date) != nil {
            request.headerFields[.ifModifiedSince] = date
        }
    }

    /// The response of `send`, or the entry if a 304 confirms it. If the 304 is for another response, `send`
    /// runs again without conditions.
    ///
    /// The stage ``Revalidation`` does the same for clients; change both.
    ///
    /// - Parameter send: sends the prepared request.
    func revalidate(
        _ entry: CacheEntry?,
        _ send: @escaping @Sendable (@escaping @Sendable (inout Request) -> Void) -> Responses
    ) -> Responses {
        let responses = send { self.prepare(&$0, revalidating: entry) }
        guard let entry, key.rules == .http else { return responses }
        return responses.flatMap(.concat) { response in
            guard response.status == .notModified else { return .just(response) }
            guard let revalidated = self.confirm(entry, by: response) else {
                return send { self.prepare(&$0, revalidating: nil) }
            }
            return .just(revalidated)
        }
    }

    /// The stored response, updated by a 304 (RFC 9111 §4.3.4); `nil` if the 304 is for another response, or
    /// the combined fields exceed the limit.
    func confirm(_ entry: CacheEntry, by response: Response) -> Response? {
        // A response after a redirect concerns another URL.
        guard !response.isRedirected else { return nil }
        guard entry.metadata.head.hasSameTag(as: response.head),
            let head = entry.metadata.head.updated(by: response.head)
        else {
            cache.perform(cache.store.remove(.id(entry.metadata.id)))
            return nil
        }
        cache.count { $0.revalidated += 1 }
        var entry = entry
        entry.metadata.head = head
        entry.metadata.freshness = freshness(of: head, response)
        // As `store(_:)` and `metadata(of:)` decide for a new response; change both.
        if !isSent(response) {
            // An interceptor has confirmed the entry for this request alone.
        } else if demand.writesStore, head.isStorable, let variant = variant(of: head, response) {
            entry.metadata.variant = variant
            if !isSuperseded { cache.perform(cache.store.update(entry.metadata)) }
        } else {
            cache.perform(cache.store.remove(.id(entry.metadata.id)))
        }
        var revalidated = response
        revalidated.head = entry.metadata.head
        revalidated.body = entry.body
        // So that ``store(_:)`` does not store it again.
        revalidated.cacheUse = .revalidated
        return revalidated
    }
}
