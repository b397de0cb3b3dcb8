import FoundationEssentials

/// The cookies that a jar has accepted, and the rules for them (RFC 6265 §5.3 and §5.4; RFC 6265bis where current practice is
/// stricter). A plain value: no clock, no lock, no files.
struct CookieTable {
    /// The cookies of each domain, in the order of their creation.
    private var domains: [String: [Cookie]] = [:]
    private(set) var count = 0
    /// Each cookie has a distinct time of creation, so their order is unambiguous.
    private var lastCreation = Date.distantPast
    private let suffixes: PublicSuffixes
    let limits: CookieLimits

    init(_ suffixes: PublicSuffixes, _ limits: CookieLimits) {
        self.suffixes = suffixes
        self.limits = limits
    }

    /// The result of setting a cookie.
    struct Changes {
        /// `nil` if the server deleted a cookie.
        var stored: Cookie?
        /// The cookies that were deleted, evicted because of the limits, or found expired; not those replaced
        /// by a new value.
        var removed: [Cookie] = []
        /// The cookie that a new value replaced.
        var replaced: Cookie?

        /// Whether a file without session cookies must be written again.
        var isLasting: Bool {
            ([stored, replaced].compactMap(\.self) + removed).contains { !$0.isSession }
        }
    }

    /// All cookies that have not expired, in the order of their creation.
    func all(at now: Date) -> [Cookie] {
        domains.values.joined().filter { !$0.isExpired(at: now) }.sorted { $0.isBefore($1) }
    }

    /// The cookies for a request: longer paths first, then older cookies (§5.4).
    func matching(_ origin: CookieOrigin, at now: Date) -> [Cookie] {
        guard count > 0 else { return [] }
        return origin.domains.flatMap { domain in
            (domains[domain] ?? []).filter { cookie in
                !cookie.isExpired(at: now) && (!cookie.isHostOnly || domain == origin.host)
                    && (!cookie.isSecure || origin.isSecure) && origin.path.isBelow(cookie.path)
            }
        }
        .sorted { one, other in
            let (length, otherLength) = (one.path.utf8.count, other.path.utf8.count)
            return length != otherLength ? length > otherLength : one.isBefore(other)
        }
    }

    /// The cookies for a request, in the order of ``matching(_:at:)``; updates the time of their last use.
    mutating func take(for origin: CookieOrigin, at now: Date) -> [Cookie] {
        let taken = matching(origin, at: now)
        for cookie in taken {
            guard let index = domains[cookie.domain]?.firstIndex(where: { $0.isSame(as: cookie) }) else {
                continue
            }
            domains[cookie.domain]?[index].lastUsed = now
        }
        return taken
    }

    /// Sets a cookie that was received from `origin`.
    mutating func set(
        _ line: SetCookie, from origin: CookieOrigin, at now: Date
    ) throws(CookieRefusal) -> Changes {
        var cookie = try cookie(line, from: origin, at: now)
        lastCreation = max(now, lastCreation.addingTimeInterval(1e-6))
        cookie.created = lastCreation
        return insert(cookie, at: now)
    }

    private func cookie(
        _ line: SetCookie, from origin: CookieOrigin, at now: Date
    ) throws(CookieRefusal) -> Cookie {
        let (domain, isHostOnly) = try scope(of: line.domain, from: origin)
        guard origin.isSecure || !line.isSecure else { throw .insecureOrigin }
        guard line.keepsPrefix(isHostOnly: isHostOnly) else { throw .brokenPrefix }
        let cookie = Cookie(
            name: line.name, value: line.value, domain: domain, isHostOnly: isHostOnly,
            path: line.path ?? origin.defaultPath, expires: line.expiry(now: now, limit: limits.lifetime),
            isSecure: line.isSecure, isHTTPOnly: line.isHTTPOnly, sameSite: line.sameSite, created: now,
            lastUsed: now)
        guard origin.isSecure || !hidesSecure(cookie, at: now) else { throw .overwritesSecure }
        return cookie
    }

    /// The domain of a cookie and whether it is host-only.
    private func scope(
        of domain: String?, from origin: CookieOrigin
    ) throws(CookieRefusal) -> (domain: String, isHostOnly: Bool) {
        guard let domain else { return (origin.host, true) }
        guard origin.isWithin(domain) else { throw .foreignDomain }
        guard !origin.isAddress else { return (origin.host, true) }
        guard let isPublicSuffix = suffixes.contains else { return (origin.host, true) }
        guard isPublicSuffix(domain.hasSuffix(".") ? String(domain.dropLast()) : domain) else {
            return (domain, false)
        }
        guard domain == origin.host else { throw .publicSuffix }
        return (domain, true)
    }

    /// Whether a cookie from http would precede or replace a `Secure` one (RFC 6265bis §5.7).
    private func hidesSecure(_ cookie: Cookie, at now: Date) -> Bool {
        domains.contains { domain, cookies in
            let isHidden = cookies.contains {
                $0.isSecure && $0.name == cookie.name && !$0.isExpired(at: now)
                    && cookie.path.isBelow($0.path)
            }
            return isHidden
                && (domain == cookie.domain || domain.hasSuffix("." + cookie.domain)
                    || cookie.domain.hasSuffix("." + domain))
        }
    }

    private mutating func insert(_ cookie: Cookie, at now: Date) -> Changes {
        var cookie = cookie
        var changes = Changes()
        if let old = remove(cookie) {
            cookie.created = old.created
            if cookie.isExpired(at: now) { changes.removed = [old] } else { changes.replaced = old }
        }
        guard !cookie.isExpired(at: now) else { return changes }
        add(cookie)
        changes.stored = cookie
        changes.removed += trim(cookie.domain, at: now)
        return changes
    }

    private mutating func add(_ cookie: Cookie) {
        var cookies = domains[cookie.domain] ?? []
        let index = cookies.lastIndex { !cookie.isBefore($0) }.map { $0 + 1 } ?? 0
        cookies.insert(cookie, at: index)
        domains[cookie.domain] = cookies
        count += 1
    }

    private mutating func remove(_ cookie: Cookie) -> Cookie? {
        guard let index = domains[cookie.domain]?.firstIndex(where: { $0.isSame(as: cookie) }) else {
            return nil
        }
        let removed = domains[cookie.domain]?.remove(at: index)
        if domains[cookie.domain]?.isEmpty == true { domains[cookie.domain] = nil }
        count -= 1
        return removed
    }

    /// Removes all cookies for which `isUnwanted` returns true, and returns them in the order of their creation.
    mutating func removeAll(where isUnwanted: (Cookie) -> Bool) -> [Cookie] {
        let unwanted = domains.values.joined().filter(isUnwanted)
        return unwanted.sorted { $0.isBefore($1) }.compactMap { remove($0) }
    }

    // MARK: - Limits

    private mutating func trim(_ domain: String, at now: Date) -> [Cookie] {
        var removed: [Cookie] = []
        if (domains[domain]?.count ?? 0) > limits.perDomain {
            removed += removeAll { $0.domain == domain && $0.isExpired(at: now) }
            while let cookies = domains[domain], cookies.count > limits.perDomain,
                let least = cookies.min(by: { $0.isWorthLess(than: $1) })
            {
                removed += [remove(least)].compactMap(\.self)
            }
        }
        if count > limits.total {
            removed += removeAll { $0.isExpired(at: now) }
            while count > limits.total,
                let least = domains.values.joined().min(by: { $0.isWorthLess(than: $1) })
            {
                removed += [remove(least)].compactMap(\.self)
            }
        }
        return removed
    }

    // MARK: - From a file

    /// Whether a server could have set the cookie.
    func isSound(_ cookie: Cookie) -> Bool { cookie.isSound(suffixes) }

    /// The maximum lifetime of a cookie, in seconds.
    var lifetime: TimeInterval { limits.lifetime }

    /// Adds cookies that were accepted earlier and replaces existing ones; cookies that no server could
    /// have set are skipped.
    ///
    /// - Returns: the cookies that were added.
    mutating func restore(_ cookies: [Cookie], at now: Date) -> [Cookie] {
        cookies.filter { $0.isSound(suffixes) }.compactMap { cookie in
            lastCreation = max(lastCreation, cookie.created)
            return insert(cookie, at: now).stored
        }
    }
}

extension Cookie {
    fileprivate func isBefore(_ other: Cookie) -> Bool { created < other.created }

    fileprivate func isWorthLess(than other: Cookie) -> Bool {
        if isSecure != other.isSecure { return !isSecure }
        return lastUsed == other.lastUsed ? isBefore(other) : lastUsed < other.lastUsed
    }

    /// Whether a server could have set the cookie: a file may have been edited.
    fileprivate func isSound(_ suffixes: PublicSuffixes) -> Bool {
        guard let line = try? SetCookie("\(name)=\(value); Path=\(path)\(isSecure ? "; Secure" : "")"),
            line.name == name, line.value == value, line.path == path, line.isSecure == isSecure,
            line.keepsPrefix(isHostOnly: isHostOnly),
            !domain.isEmpty, domain == CookieOrigin.canonical(domain),
            domain.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
        else { return false }
        return isHostOnly || (suffixes.contains?(domain) == false && !CookieOrigin.isAddress(domain))
    }
}
