import HTTPTypes
import RxHTTP
import RxJSON

/// The exchanges of a cassette, and which of them have been used.
struct ReplayLibrary {
    /// The rules of few requests differ; those of more than these are found again and again.
    private static let maxIndexes = 8

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

    /// The exchange that resembles the request most, an unused one if several do equally. If the rules keep the order:
    /// the next unused one, if there is one.
    mutating func nearest(to sent: Cassette.Exchange, _ redaction: Redaction) -> (index: Int, isUsed: Bool)? {
        if rules.keepsOrder, let next = unused.first { return (next, false) }
        let fingerprint = description(of: sent, redaction).fingerprint
        let fingerprints = indexes[number(of: redaction)].fingerprints
        let best = fingerprints.indices.map { index in
            let likeness = ReplayDifference.likeness(fingerprints[index], fingerprint)
            return (index: index, score: 2 * likeness + (isUsed[index] ? 0 : 1))
        }.max { ($0.score, -$0.index) < ($1.score, -$1.index) }
        return best.map { ($0.index, isUsed[$0.index]) }
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
        if indexes.count == Self.maxIndexes {
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
        if rules.keepsOrder {
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

/// The compared parts of a request, in a canonical form. ``ReplayDifference`` explains differences of the
/// same parts; change both.
struct Fingerprint: Hashable, Sendable {
    let method: String
    let url: String
    let fields: [String]
    let body: [UInt8]

    /// - Parameter exchange: the request, with its secrets masked.
    init(_ exchange: Cassette.Exchange, _ rules: ReplayRules) {
        method = exchange.method.rawValue
        url = Self.canonical(exchange.url, isWhole: rules.comparesOrigins)
        fields = rules.comparedFields.sorted { $0.canonicalName < $1.canonicalName }.map { name in
            "\(name.canonicalName): \(exchange.headerFields[name] ?? "")"
        }
        body =
            rules.comparesBodies && !exchange.body.isEmpty
            ? Self.canonical(exchange.body, type: exchange.headerFields[.contentType]) : []
    }

    /// Whether the contents of two exchanges count as equal.
    static func areContentsEqual(_ one: Cassette.Exchange, _ other: Cassette.Exchange) -> Bool {
        canonical(one.body, type: one.headerFields[.contentType])
            == canonical(other.body, type: other.headerFields[.contentType])
    }

    private static func canonical(_ url: String, isWhole: Bool) -> String {
        let text = url.prefix { $0 != "#" }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let segments = (parts.first ?? "").split(
            separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard segments.count >= 3 else { return String(text) }
        let path = segments.count > 3 ? segments[3] : ""
        let origin = isWhole ? "\(segments[0].lowercased())//\(segments[2].lowercased())" : ""
        let query = parts.count > 1 ? "?" + sorted(parts[1]) : ""
        return "\(origin)/\(path)\(query)"
    }

    private static func sorted(_ form: Substring) -> String {
        form.split(separator: "&").map(\.decodedAsForm).sorted().joined(separator: "&")
    }

    private static func canonical(_ body: [UInt8], type: String?) -> [UInt8] {
        let media = MediaType(type)
        if media.isForm { return Array(sorted(String(decoding: body, as: UTF8.self)[...]).utf8) }
        if media.isMultipart, let boundary = MultipartText.boundary(in: type ?? "") {
            return body.replacing(Array("--\(boundary)".utf8), with: Array("--".utf8))
        }
        guard media.isJSON || media.name.isEmpty, let part = try? JSONPart(wholeOf: body) else { return body }
        return part.canonical(in: body)
    }
}

extension Cassette.Exchange {
    /// The compared parts of the request, with the same mask for all secrets.
    ///
    /// - Parameters:
    ///   - redaction: the rules by which secrets are found. Those that a recording replaced are found by themselves.
    ///   - secrets: receives the secrets.
    func masked(_ rules: ReplayRules, _ redaction: Redaction, secrets: inout Set<String>) -> Cassette.Exchange
    {
        var pseudonyms = Pseudonyms.masking
        var masked = Cassette.Exchange(method: method, url: "")
        masked.url = String(
            decoding: pseudonyms.masked(Array(pseudonyms.replaced(url: url, redaction).utf8)), as: UTF8.self)
        let type = headerFields[.contentType]
        for name in rules.comparedFields {
            let fields = pseudonyms.replaced(HTTPFields(headerFields[fields: name]), redaction)
            for field in fields {
                let value = String(decoding: pseudonyms.masked(Array(field.value.utf8)), as: UTF8.self)
                masked.headerFields.append(HTTPField(name: name, value: value))
            }
        }
        // The placeholders of all secret fields, compared or not, must be those of the cassette.
        for field in headerFields where redaction.hides(field.name) {
            _ = pseudonyms.replaced(HTTPFields([field]), redaction)
        }
        // ``Fingerprint`` compares the body by it.
        masked.headerFields[.contentType] = type
        if rules.comparesBodies, !body.isEmpty {
            masked.body = pseudonyms.masked(
                pseudonyms.edits(in: body, type: type, redaction).applied(to: body))
        }
        secrets.formUnion(pseudonyms.masked ?? [])
        return masked
    }
}
