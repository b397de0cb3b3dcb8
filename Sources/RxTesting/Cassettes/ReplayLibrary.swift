import RxHTTP

/// The exchanges of a cassette, and which of them have been used.
struct ReplayLibrary {
    /// The rules of few requests differ; those of more than these are found again and again.
    private static let mostIndexes = 8

    private let exchanges: [Cassette.Exchange]
    private let rules: ReplayRules
    private var isUsed: [Bool]
    /// The index of the first exchange that has not been used.
    private var next = 0
    /// One for each set of rules that requests had, the latest last.
    private var indexes: [ReplayIndex] = []
    /// How many of the equal exchanges of an index, from the first on, have been used.
    private var usedCounts: [[Fingerprint: Int]] = []

    init(_ exchanges: [Cassette.Exchange], _ rules: ReplayRules) {
        self.exchanges = exchanges
        self.rules = rules
        isUsed = Array(repeating: false, count: exchanges.count)
    }

    /// The indices of the exchanges that have not been used.
    var unused: [Int] { isUsed.indices.filter { !isUsed[$0] } }

    /// Finds the exchange of a request, and marks it as used.
    ///
    /// - Parameter ignoringBody: whether the content is not known. The first exchange that fits otherwise is found.
    mutating func take(_ sent: Cassette.Exchange, _ redaction: Redaction, ignoringBody: Bool) -> Int? {
        let (fingerprint, secrets) = description(of: sent, redaction)
        let number = number(of: redaction)
        let found = find(fingerprint, secrets.intersection(indexes[number].known), ignoringBody, number)
        if let found { isUsed[found] = true }
        return found
    }

    /// The placeholders of the cassette that a request contains.
    mutating func placeholders(in sent: Cassette.Exchange, _ redaction: Redaction) -> Set<String> {
        description(of: sent, redaction).secrets.intersection(indexes[number(of: redaction)].known)
    }

    /// The exchange that resembles the request most, preferably an unused one; by the recorded order, the next one.
    mutating func nearest(to sent: Cassette.Exchange, _ redaction: Redaction) -> (index: Int, isUsed: Bool)? {
        if rules.order == .recorded, let next = unused.first { return (next, false) }
        let fingerprint = description(of: sent, redaction).fingerprint
        let fingerprints = indexes[number(of: redaction)].fingerprints
        let best = fingerprints.indices.map { index in
            (index, 2 * ReplayDifference.likeness(fingerprints[index], fingerprint) + (isUsed[index] ? 0 : 1))
        }.max { ($0.1, -$0.0) < ($1.1, -$1.0) }
        return best.map { ($0.0, isUsed[$0.0]) }
    }

    private func description(
        of sent: Cassette.Exchange, _ redaction: Redaction
    ) -> (fingerprint: Fingerprint, secrets: Set<String>) {
        var secrets: Set<String> = []
        return (Fingerprint(sent.masked(rules, redaction, secrets: &secrets), rules), secrets)
    }

    /// The number of the index for the rules of a request.
    private mutating func number(of redaction: Redaction) -> Int {
        if let known = indexes.lastIndex(where: { $0.redaction == redaction }) { return known }
        if indexes.count == Self.mostIndexes {
            indexes.removeFirst()
            usedCounts.removeFirst()
        }
        indexes.append(ReplayIndex(exchanges, rules, redaction))
        usedCounts.append([:])
        return indexes.count - 1
    }

    private mutating func find(
        _ fingerprint: Fingerprint, _ placeholders: Set<String>, _ ignoringBody: Bool, _ number: Int
    ) -> Int? {
        let index = indexes[number]
        func fits(_ exchange: Int) -> Bool { placeholders.isSubset(of: index.secrets[exchange]) }
        if rules.order == .recorded {
            while next < isUsed.count, isUsed[next] { next += 1 }
            guard next < isUsed.count, index.matches(next, fingerprint, ignoringBody: ignoringBody),
                fits(next)
            else { return nil }
            return next
        }
        guard !ignoringBody else {
            return index.fingerprints.indices.first {
                !isUsed[$0] && index.matches($0, fingerprint, ignoringBody: true) && fits($0)
            }
        }
        guard let equals = index.equals[fingerprint] else { return nil }
        var count = usedCounts[number][fingerprint] ?? 0
        while count < equals.count, isUsed[equals[count]] { count += 1 }
        usedCounts[number][fingerprint] = count
        if let found = equals[count...].first(where: { !isUsed[$0] && fits($0) }) { return found }
        return rules.isStrict ? nil : equals.last(where: fits)
    }
}
