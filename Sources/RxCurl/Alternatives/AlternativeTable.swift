internal import RxHTTP

/// Which alternatives origins have named, and how trying them went. Times are seconds since 1970.
struct AlternativeTable {
    /// A host and a port that is reached over TLS.
    struct Place: Hashable {
        /// In lower case, IPv6 addresses without brackets.
        let host: String
        let port: Int

        init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// That of an https origin; `nil` for any other.
        init?(_ origin: Origin) {
            guard origin.scheme == "https" else { return nil }
            var host = origin.host
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            self.init(host: host, port: origin.port)
        }
    }

    /// The alternatives that an origin has named.
    struct Entry: Equatable {
        /// The protocol of the response that named them, by its name in ALPN.
        var source: String
        /// With the origin's host where they had none.
        var services: [AlternativeService]
        /// When each of them is forgotten.
        var ends: [Int]
        /// ``ends`` as they are saved.
        var savedEnds: [Int]

        /// Whether what is saved will do for `new`: the same services, the ends of which have moved by no more than a
        /// tenth of their time. A server names the same with each response.
        func isSaved(_ new: Entry, at now: Int) -> Bool {
            services.elementsEqual(new.services) { $0.isPlaced(as: $1) }
                && zip(savedEnds, new.ends).allSatisfy { saved, end in abs(end - saved) * 10 <= end - now }
        }
    }

    /// An alternative that could not be reached.
    private struct Failure {
        var count = 0
        var start = 0
        var end = 0
    }

    private(set) var entries: [Place: Entry] = [:]
    private var failures: [Place: Failure] = [:]

    /// How many origins are remembered.
    static let limit = 1024
    /// How long an alternative that failed is left alone: twice as long after each further failure.
    static let firstDelay = 5 * 60
    static let longestDelay = 2 * 24 * 3600

    /// Takes what a response of `place` says in place of what was said before.
    ///
    /// - Parameters:
    ///   - source: the protocol of the response, by its name in ALPN.
    ///   - age: how old the response is, in seconds (RFC 7838 §3.1).
    /// - Returns: whether that is worth saving: more than a time that moves on with each response.
    mutating func take(
        _ field: AlternativeServiceField, from place: Place, over source: String, age: Int = 0, at now: Int
    ) -> Bool {
        let old = entries[place]
        guard case .services(let found) = field else {
            failures[place] = nil
            entries[place] = nil
            return old != nil
        }
        let services = found.filter { $0.maxAge > age }.map { service in
            var service = service
            if service.host.isEmpty { service.host = place.host }
            return service
        }
        guard !services.isEmpty else {
            entries[place] = nil
            return old != nil
        }
        let ends = services.map { now + $0.maxAge - age }
        var entry = Entry(source: source, services: services, ends: ends, savedEnds: ends)
        let isSaved = old?.isSaved(entry, at: now) ?? false
        if isSaved, let old { entry.savedEnds = old.savedEnds }
        insert(entry, for: place, at: now)
        return !isSaved
    }

    /// Forgets that `place` serves HTTP/3 at the same host and port, since a request was misdirected there (RFC 7838 §6).
    ///
    /// - Returns: whether that is worth saving.
    mutating func forgetHTTP3(_ place: Place) -> Bool {
        guard let old = entries[place] else { return false }
        let kept = old.services.indices.filter { !Self.isHTTP3(old.services[$0], at: place) }
        guard kept.count < old.services.count else { return false }
        let entry = Entry(
            source: old.source, services: kept.map { old.services[$0] }, ends: kept.map { old.ends[$0] },
            savedEnds: kept.map { old.savedEnds[$0] })
        entries[place] = kept.isEmpty ? nil : entry
        return true
    }

    private static func isHTTP3(_ service: AlternativeService, at place: Place) -> Bool {
        service.protocolID == "h3" && service.host == place.host && service.port == place.port
    }

    /// Adds what has been saved. What is known by now is newer.
    mutating func add(_ entry: Entry, for place: Place, at now: Int) {
        if entries[place] == nil, entries.count < Self.limit { insert(entry, for: place, at: now) }
    }

    private mutating func insert(_ entry: Entry, for place: Place, at now: Int) {
        if entries[place] == nil, entries.count >= Self.limit {
            entries = entries.filter { Self.isCurrent($0.value, at: now) }
            // The one that would be forgotten first.
            if entries.count >= Self.limit,
                let first = entries.min(by: { ($0.value.ends.max() ?? 0) < ($1.value.ends.max() ?? 0) })
            {
                entries[first.key] = nil
            }
        }
        entries[place] = entry
    }

    private static func isCurrent(_ entry: Entry, at now: Int) -> Bool { entry.ends.contains { $0 > now } }

    /// Whether `place` serves HTTP/3 at the same host and port, by what it says.
    func namesHTTP3(_ place: Place, at now: Int) -> Bool {
        guard let entry = entries[place] else { return false }
        return zip(entry.services, entry.ends).contains { service, end in
            Self.isHTTP3(service, at: place) && end > now
        }
    }

    /// Whether HTTP/3 is left alone there, since it failed a short time ago.
    func isBroken(_ place: Place, at now: Int) -> Bool {
        guard let failure = failures[place] else { return false }
        // A clock that was set back must not make the time longer.
        return failure.start <= now && now < failure.end
    }

    /// HTTP/3 could not be reached there.
    mutating func noteFailure(_ place: Place, at now: Int) {
        guard !isBroken(place, at: now) else { return }
        if failures[place] == nil, failures.count >= Self.limit,
            let first = failures.min(by: { $0.value.end < $1.value.end })
        {
            failures[first.key] = nil
        }
        var failure = failures[place] ?? Failure()
        failure.count = min(failure.count + 1, 16)
        failure.start = now
        failure.end = now + min(Self.longestDelay, Self.firstDelay << (failure.count - 1))
        failures[place] = failure
    }

    /// HTTP/3 was spoken there.
    mutating func noteSuccess(_ place: Place) {
        if !failures.isEmpty { failures[place] = nil }
    }
}
