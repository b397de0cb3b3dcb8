import RxHTTP

/// The exchanges of a cassette as the rules of one request see them, which determine what is a secret.
struct ReplayIndex {
    let redaction: Redaction
    let fingerprints: [Fingerprint]
    /// The secrets of each exchange.
    let secrets: [Set<String>]
    /// The placeholders that the cassette contains.
    let known: Set<String>
    /// The indices of equal exchanges.
    let equals: [Fingerprint: [Int]]

    init(_ exchanges: [Cassette.Exchange], _ rules: ReplayRules, _ redaction: Redaction) {
        var (fingerprints, secrets): ([Fingerprint], [Set<String>]) = ([], [])
        for exchange in exchanges {
            var found: Set<String> = []
            fingerprints.append(Fingerprint(exchange.masked(rules, redaction, secrets: &found), rules))
            secrets.append(found)
        }
        equals = Dictionary(grouping: fingerprints.indices) { fingerprints[$0] }
        self.redaction = redaction
        self.fingerprints = fingerprints
        self.secrets = secrets
        known = secrets.reduce(into: []) { $0.formUnion($1.filter { Pseudonyms.isPlaceholder($0) }) }
    }

    /// Whether the exchange has the method, the URL, the fields and, unless it is ignored, the content.
    func matches(_ index: Int, _ fingerprint: Fingerprint, ignoringBody: Bool) -> Bool {
        let other = fingerprints[index]
        return other.method == fingerprint.method && other.url == fingerprint.url
            && other.fields == fingerprint.fields && (ignoringBody || other.body == fingerprint.body)
    }
}
