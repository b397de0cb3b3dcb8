import HTTPTypes
import RxHTTP
import RxJSON

/// The differences between a sent and a recorded request.
struct ReplayDifference {
    private static let lineLimit = 8
    private static let textLimit = 120

    private let sent: Cassette.Exchange
    private let recorded: Cassette.Exchange
    private let rules: ReplayRules
    private var lines: [String] = []

    static func lines(
        sent: Cassette.Exchange, recorded: Cassette.Exchange, _ rules: ReplayRules
    ) -> [String] {
        var difference = ReplayDifference(sent: sent, recorded: recorded, rules: rules)
        difference.compare()
        let rest = difference.lines.count - lineLimit
        return difference.lines.prefix(lineLimit) + (rest > 0 ? ["and \(rest) more differences"] : [])
    }

    private init(sent: Cassette.Exchange, recorded: Cassette.Exchange, rules: ReplayRules) {
        self.sent = sent
        self.recorded = recorded
        self.rules = rules
    }

    /// A measure of how much two fingerprints have in common.
    static func likeness(_ one: Fingerprint, _ other: Fingerprint) -> Int {
        func path(_ url: String) -> Substring { url.prefix { $0 != "?" } }
        func last(_ url: String) -> Substring? { path(url).split(separator: "/").last }
        return (path(one.url) == path(other.url) ? 16 : last(one.url) == last(other.url) ? 4 : 0)
            + (one.method == other.method ? 8 : 0) + (one.url == other.url ? 4 : 0)
            + (one.body == other.body ? 2 : 0) + (one.fields == other.fields ? 1 : 0)
    }

    private mutating func add(_ place: String, _ recorded: String?, _ sent: String?) {
        guard recorded != sent else { return }
        func shown(_ text: String?) -> String {
            guard let text else { return "nothing" }
            return text.count > Self.textLimit ? "\(text.prefix(Self.textLimit))…" : text
        }
        lines.append("\(place): recorded \(shown(recorded)), sent \(shown(sent))")
    }

    private mutating func compare() {
        add("method", recorded.method.rawValue, sent.method.rawValue)
        compareURLs()
        for name in rules.comparedFields.sorted(by: { $0.canonicalName < $1.canonicalName }) {
            add(name.rawName, recorded.headerFields[name], sent.headerFields[name])
        }
        if rules.comparesBodies { compareBodies() }
    }

    private mutating func compareURLs() {
        func parts(_ url: String) -> (place: String, query: [String: String]) {
            let parts = url.prefix { $0 != "#" }.split(
                separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            var query: [String: String] = [:]
            for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
                let pair = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let value = pair.count > 1 ? pair[1].decodedAsForm : ""
                query[pair[0].decodedAsForm] = query[pair[0].decodedAsForm].map { "\($0), \(value)" } ?? value
            }
            return (String(parts[0]), query)
        }
        let (one, other) = (parts(recorded.url), parts(sent.url))
        func path(_ text: String) -> String {
            rules.comparesOrigins
                ? text
                : "/"
                    + text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
                    .dropFirst(3).joined(separator: "/")
        }
        add("URL", path(one.place), path(other.place))
        for name in Set(one.query.keys).union(other.query.keys).sorted() {
            add("query \(name)", one.query[name], other.query[name])
        }
    }

    private mutating func compareBodies() {
        guard !Fingerprint.areContentsEqual(sent, recorded) else { return }
        if let one = try? JSONPart(wholeOf: recorded.body), let other = try? JSONPart(wholeOf: sent.body) {
            return compare(
                "body", Place(one.tape, JSONTape.root, recorded.body),
                Place(other.tape, JSONTape.root, sent.body))
        }
        add("body", describe(recorded.body), describe(sent.body))
    }

    private func describe(_ body: [UInt8]) -> String? {
        guard !body.isEmpty else { return nil }
        return String(validating: body, as: UTF8.self)?.debugDescription ?? "\(body.count) bytes"
    }

    private struct Place {
        let tape: JSONTape
        let place: Int
        let bytes: [UInt8]

        init(_ tape: JSONTape, _ place: Int, _ bytes: [UInt8]) {
            self.tape = tape
            self.place = place
            self.bytes = bytes
        }

        var literal: String { String(decoding: bytes[tape.literal(of: place)], as: UTF8.self) }
        var members: [String: Place] {
            Dictionary(
                tape.members(of: place).map { (tape.text(at: $0.key, in: bytes) ?? "?", at($0.value)) },
                uniquingKeysWith: { first, _ in first })
        }
        var elements: [Place] { tape.elements(of: place).map { at($0) } }
        var canonical: [UInt8] { JSONPart(tape, at: place).canonical(in: bytes) }

        private func at(_ place: Int) -> Place { Place(tape, place, bytes) }
    }

    /// Compares two values; it recurses as deep as `JSONTape.depthLimit` allows them to nest.
    private mutating func compare(_ path: String, _ one: Place?, _ other: Place?) {
        guard let one, let other else { return add(path, one?.literal, other?.literal) }
        let kinds = (one.tape.kind(at: one.place), other.tape.kind(at: other.place))
        if kinds.0.isObject, kinds.1.isObject {
            let (members, others) = (one.members, other.members)
            for name in Set(members.keys).union(others.keys).sorted() {
                compare("\(path).\(name)", members[name], others[name])
            }
        } else if kinds.0 == .array, kinds.1 == .array {
            let (elements, others) = (one.elements, other.elements)
            for index in 0..<max(elements.count, others.count) {
                compare(
                    "\(path)[\(index)]", index < elements.count ? elements[index] : nil,
                    index < others.count ? others[index] : nil)
            }
        } else if one.canonical != other.canonical {
            add(path, one.literal, other.literal)
        }
    }
}
