import RxHTTP

/// The exchanges of a cassette, and which of them have been used.
struct ReplayLibrary {
    private let rules: ReplayRules
    private let fingerprints: [Fingerprint]
    /// The secrets of each exchange, and the placeholders that the cassette contains.
    private let secrets: [Set<String>]
    private let known: Set<String>
    private var isUsed: [Bool]
    /// The indices of equal exchanges, and how many of them, from the first on, have been used.
    private var equals: [Fingerprint: (indices: [Int], usedCount: Int)] = [:]
    /// The index of the first exchange that has not been used.
    private var next = 0

    init(_ exchanges: [Cassette.Exchange], _ rules: ReplayRules) {
        self.rules = rules
        var (fingerprints, secrets): ([Fingerprint], [Set<String>]) = ([], [])
        let redaction = Redaction()
        for exchange in exchanges {
            var found: Set<String> = []
            fingerprints.append(Fingerprint(exchange.masked(rules, redaction, secrets: &found), rules))
            secrets.append(found)
        }
        for (index, fingerprint) in fingerprints.enumerated() {
            equals[fingerprint, default: ([], 0)].indices.append(index)
        }
        self.fingerprints = fingerprints
        self.secrets = secrets
        known = secrets.reduce(into: []) { $0.formUnion($1.filter { Pseudonyms.isPlaceholder($0) }) }
        isUsed = Array(repeating: false, count: exchanges.count)
    }

    /// The indices of the exchanges that have not been used.
    var unused: [Int] { isUsed.indices.filter { !isUsed[$0] } }

    /// Finds the exchange of a request, and marks it as used.
    mutating func take(_ sent: Cassette.Exchange, _ redaction: Redaction, ignoringBody: Bool) -> Int? {
        guard let index = find(sent, redaction, ignoringBody: ignoringBody) else { return nil }
        isUsed[index] = true
        return index
    }

    /// Finds the exchange of a request.
    ///
    /// - Parameter ignoringBody: whether the content is not known. The first exchange that fits otherwise is found.
    mutating func find(_ sent: Cassette.Exchange, _ redaction: Redaction, ignoringBody: Bool) -> Int? {
        var found: Set<String> = []
        let fingerprint = Fingerprint(sent.masked(rules, redaction, secrets: &found), rules)
        let placeholders = found.intersection(known)
        func fits(_ index: Int) -> Bool { placeholders.isSubset(of: secrets[index]) }
        if rules.order == .recorded {
            while next < isUsed.count, isUsed[next] { next += 1 }
            guard next < isUsed.count, matches(next, fingerprint, ignoringBody), fits(next) else {
                return nil
            }
            return next
        }
        guard !ignoringBody else {
            return fingerprints.indices.first { !isUsed[$0] && matches($0, fingerprint, true) && fits($0) }
        }
        guard var candidates = equals[fingerprint] else { return nil }
        while candidates.usedCount < candidates.indices.count,
            isUsed[candidates.indices[candidates.usedCount]]
        {
            candidates.usedCount += 1
        }
        equals[fingerprint]?.usedCount = candidates.usedCount
        if let index = candidates.indices[candidates.usedCount...].first(where: { !isUsed[$0] && fits($0) }) {
            return index
        }
        return rules.isStrict ? nil : candidates.indices.last(where: fits)
    }

    private func matches(_ index: Int, _ fingerprint: Fingerprint, _ ignoringBody: Bool) -> Bool {
        let other = fingerprints[index]
        return other.method == fingerprint.method && other.url == fingerprint.url
            && other.fields == fingerprint.fields && (ignoringBody || other.body == fingerprint.body)
    }

    /// The exchange that resembles the request most, preferably an unused one; by the recorded order, the next one.
    func nearest(to sent: Cassette.Exchange, _ redaction: Redaction) -> (index: Int, isUsed: Bool)? {
        if rules.order == .recorded, let next = unused.first { return (next, false) }
        var found: Set<String> = []
        let fingerprint = Fingerprint(sent.masked(rules, redaction, secrets: &found), rules)
        let best = fingerprints.indices.map { index in
            (index, 2 * ReplayDifference.likeness(fingerprints[index], fingerprint) + (isUsed[index] ? 0 : 1))
        }.max { ($0.1, -$0.0) < ($1.1, -$1.0) }
        return best.map { ($0.0, isUsed[$0.0]) }
    }
}
