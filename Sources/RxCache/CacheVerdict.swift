package import FoundationEssentials

/// The decision about a request that has a stored response.
package enum CacheVerdict: Equatable {
    /// The stored response is used.
    case use(isStale: Bool)
    /// The stored response is used, and renewed in the background (RFC 5861 §3).
    case useAndRefresh
    /// The request is sent.
    case ask
}

extension CacheTerms {
    /// Whether a response under these terms may be used for a request (RFC 9111 §4).
    package func verdict(for demand: CacheDemand, at now: Date) -> CacheVerdict {
        let age = age(at: now)
        let isFresh = age < lifetime
        if demand.mustConfirm || alwaysRevalidates && !demand.acceptsAnyAge { return .ask }
        if let maxAge = demand.maxAge, age > maxAge || maxAge == 0 { return .ask }
        if isFresh { return lifetime - age >= demand.minFresh ? .use(isStale: false) : .ask }
        guard demand.minFresh == 0 else { return .ask }
        let staleness = age - lifetime
        if demand.acceptsAnyAge, staleness <= demand.maxStale ?? .infinity { return .use(isStale: true) }
        guard !neverStale else { return .ask }
        if let maxStale = demand.maxStale, maxStale > 0, staleness <= maxStale { return .use(isStale: true) }
        if staleWhileRevalidate > 0, staleness <= staleWhileRevalidate {
            // RFC 5861 §3 permits the use; the renewal is only recommended.
            return demand.onlyIfCached ? .use(isStale: true) : .useAndRefresh
        }
        return .ask
    }

    /// Whether a response under these terms may be used if the server has failed (RFC 5861 §4).
    package func isUsableOnError(for demand: CacheDemand, at now: Date) -> Bool {
        guard !alwaysRevalidates, !neverStale, !demand.mustConfirm else { return false }
        let window = max(staleIfError, demand.staleIfError)
        return window > 0 && age(at: now) - lifetime <= window
    }
}
