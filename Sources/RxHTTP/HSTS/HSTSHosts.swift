import FoundationEssentials

/// The hosts to reach over TLS only, as pure rules (RFC 6797 §8): no files, threads or clock.
struct HSTSHosts {
    struct Entry: Equatable {
        var includesSubdomains: Bool
        var expires: Date
        /// ``expires`` as last saved.
        var savedExpires: Date
    }

    private(set) var entries: [String: Entry] = [:]
    /// The most hosts; beyond them the one that expires first is removed.
    static let limit = 10_000

    /// Records the policy that a host sent.
    ///
    /// - Returns: whether to save. A server repeats its policy in each response, so a new expiry is saved
    ///   only if it differs by at least a hundredth of `max-age`.
    mutating func note(_ policy: HSTSPolicy, of host: String, at now: Date) -> Bool {
        guard policy.maxAge > 0 else { return entries.removeValue(forKey: host) != nil }
        let age = TimeInterval(policy.maxAge)
        var entry = Entry(
            includesSubdomains: policy.includesSubdomains, expires: now + age, savedExpires: now + age)
        let known = entries[host]
        let isSame =
            known.map { known in
                known.includesSubdomains == entry.includesSubdomains
                    && abs(known.savedExpires.timeIntervalSince(entry.expires)) < age / 100
            } ?? false
        if isSame, let known { entry.savedExpires = known.savedExpires }
        insert(entry, for: host)
        return !isSame
    }

    /// Adds a saved host, unless a newer entry exists.
    mutating func restore(_ entry: Entry, for host: String) {
        if entries[host] == nil { insert(entry, for: host) }
    }

    private mutating func insert(_ entry: Entry, for host: String) {
        if entries[host] == nil, entries.count >= Self.limit,
            let first = entries.min(by: { $0.value.expires < $1.value.expires })
        {
            entries[first.key] = nil
        }
        entries[host] = entry
    }

    /// Whether the host has an entry, or a parent domain has one that includes subdomains (§8.2).
    func covers(_ host: String, at now: Date) -> Bool {
        guard !entries.isEmpty else { return false }
        if let entry = entries[host], entry.expires > now { return true }
        var domain = host[...]
        while let dot = domain.firstIndex(of: ".") {
            domain = domain[domain.index(after: dot)...]
            if let entry = entries[String(domain)], entry.includesSubdomains, entry.expires > now {
                return true
            }
        }
        return false
    }

    /// The canonical form of a host: lowercase, without a trailing dot; `nil` for an IP address (§8.1.1), and
    /// for text that cannot be a DNS name.
    static func name(_ host: String) -> String? {
        var name = host.lowercased()[...]
        if name.utf8.last == UInt8(ascii: ".") { name = name.dropLast() }
        let isName =
            !name.isEmpty && name.utf8.count <= 253
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
                default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
                }
            }
        guard isName, let last = name.split(separator: ".").last else { return nil }
        // 127.0.0.1, 127.1, 2130706433, 0x7f.0x1: no top-level domain begins with a digit.
        return UInt8(ascii: "0")...UInt8(ascii: "9") ~= last.utf8.first! ? nil : String(name)
    }
}
