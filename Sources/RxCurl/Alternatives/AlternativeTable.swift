internal import RxHTTP

/// The alternative services of origins, and the failures of connections to them. Times are in seconds since
/// 1970.
struct AlternativeTable {
    /// A host and a port that are reached over TLS.
    struct Place: Hashable {
        /// In lower case, IPv6 addresses without brackets.
        let host: String
        let port: Int

        init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// The place of an https origin; `nil` for other origins.
        init?(_ origin: Origin) {
            guard origin.scheme == "https" else { return nil }
            var host = origin.host
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            self.init(host: host, port: origin.port)
        }
    }

    /// The alternatives that an origin has advertised.
    struct Entry: Equatable {
        /// The ALPN name of the protocol of the response that advertised them.
        var source: String
        /// With the origin's host where the alternative had none.
        var services: [AlternativeService]
        /// When each service expires.
        var ends: [Int]
        /// ``ends`` as last saved.
        var savedEnds: [Int]

        /// Whether the saved entry is good enough for `new`: the same services, with expiry times that have
        /// moved by at most a tenth of their lifetime. Servers advertise the same services with each
        /// response.
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

    /// The maximum number of origins.
    static let limit = 1024
    /// How long an alternative is not used after a failure; doubled after each further failure.
    static let firstDelay = 5 * 60
    static let longestDelay = 2 * 24 * 3600

    /// Replaces the alternatives of `place` with those of a response.
    ///
    /// - Parameters:
    ///   - source: the ALPN name of the protocol of the response.
    ///   - age: the age of the response, in seconds (RFC 7838 §3.1).
    /// - Returns: whether the change should be saved: more than an expiry that moves with each response.
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

    /// Forgets that `place` serves HTTP/3 at the same host and port, because a request was misdirected there
    /// (RFC 7838 §6).
    ///
    /// - Returns: whether the change should be saved.
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

    /// Adds a saved entry. Entries that are already known are newer.
    mutating func add(_ entry: Entry, for place: Place, at now: Int) {
        if entries[place] == nil, entries.count < Self.limit { insert(entry, for: place, at: now) }
    }

    private mutating func insert(_ entry: Entry, for place: Place, at now: Int) {
        if entries[place] == nil, entries.count >= Self.limit {
            entries = entries.filter { Self.isCurrent($0.value, at: now) }
            // Removes the entry that expires first.
            if entries.count >= Self.limit,
                let first = entries.min(by: { ($0.value.ends.max() ?? 0) < ($1.value.ends.max() ?? 0) })
            {
                entries[first.key] = nil
            }
        }
        entries[place] = entry
    }

    private static func isCurrent(_ entry: Entry, at now: Int) -> Bool { entry.ends.contains { $0 > now } }

    /// Whether the origin has advertised HTTP/3 at the same host and port.
    func namesHTTP3(_ place: Place, at now: Int) -> Bool {
        guard let entry = entries[place] else { return false }
        return zip(entry.services, entry.ends).contains { service, end in
            Self.isHTTP3(service, at: place) && end > now
        }
    }

    /// Whether HTTP/3 is not tried at `place` because it failed recently.
    func isBroken(_ place: Place, at now: Int) -> Bool {
        guard let failure = failures[place] else { return false }
        // A clock that was set back must not extend the delay.
        return failure.start <= now && now < failure.end
    }

    /// Notes that HTTP/3 could not be reached at `place`.
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

    /// Notes that HTTP/3 worked at `place`.
    mutating func noteSuccess(_ place: Place) {
        if !failures.isEmpty { failures[place] = nil }
    }
}
