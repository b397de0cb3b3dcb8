import HTTPTypes
import RxHTTP
import RxJSON

/// The differences between a sent and a recorded request, or between two messages.
struct ReplayDifference {
    private static let lineLimit = 8
    private static let textLimit = 120

    private var lines: [String] = []
    /// Whether any secret fits a recorded placeholder.
    private var acceptsSecrets = false

    static func lines(
        sent: Cassette.Exchange, recorded: Cassette.Exchange, _ rules: ReplayRules
    ) -> [String] {
        var difference = ReplayDifference()
        difference.compare(sent, recorded, rules)
        return difference.shortened
    }

    /// The first lines, and the number of the others.
    var shortened: [String] {
        let rest = lines.count - Self.lineLimit
        return lines.prefix(Self.lineLimit) + (rest > 0 ? ["and \(rest) more differences"] : [])
    }

    /// A measure of how much two fingerprints have in common, to find the nearest; only the order of the numbers
    /// counts.
    static func likeness(_ one: Fingerprint, _ other: Fingerprint) -> Int {
        func path(_ url: String) -> Substring { url.prefix { $0 != "?" } }
        func last(_ url: String) -> Substring? { path(url).split(separator: "/").last }
        return (path(one.url) == path(other.url) ? 16 : last(one.url) == last(other.url) ? 4 : 0)
            + (one.method == other.method ? 8 : 0) + (one.url == other.url ? 4 : 0)
            + (one.body == other.body ? 2 : 0) + (one.fields == other.fields ? 1 : 0)
    }

    /// Adds a line unless the texts are equal.
    mutating func add(_ label: String, _ recorded: String?, _ sent: String?) {
        guard recorded != sent else { return }
        if acceptsSecrets, let recorded, let sent, Self.fits(Array(sent.utf8), Array(recorded.utf8)) {
            return
        }
        let common = zip(recorded ?? "", sent ?? "").prefix { $0 == $1 }.count
        let start = common > Self.textLimit / 2 ? common - Self.textLimit / 4 : 0
        func shown(_ text: String?) -> String {
            guard let text else { return "nothing" }
            let rest = text.dropFirst(start)
            return (start > 0 ? "…" : "") + rest.prefix(Self.textLimit)
                + (rest.count > Self.textLimit ? "…" : "")
        }
        lines.append("\(label): recorded \(shown(recorded)), sent \(shown(sent))")
    }

    /// Compares the parts that decide about a match, those of a ``Fingerprint``; change both.
    private mutating func compare(
        _ sent: Cassette.Exchange, _ recorded: Cassette.Exchange, _ rules: ReplayRules
    ) {
        add("method", recorded.method.rawValue, sent.method.rawValue)
        compareURLs(sent, recorded, rules)
        for name in rules.comparedFields.sorted(by: { $0.canonicalName < $1.canonicalName }) {
            add(name.rawName, recorded.headerFields[name], sent.headerFields[name])
        }
        guard rules.comparesBodies, !Fingerprint.areContentsEqual(sent, recorded) else { return }
        compare("body", recorded.body, sent.body)
    }

    private mutating func compareURLs(
        _ sent: Cassette.Exchange, _ recorded: Cassette.Exchange, _ rules: ReplayRules
    ) {
        func parts(_ url: String) -> (urlWithoutQuery: String, query: [String: String]) {
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
        add("URL", path(one.urlWithoutQuery), path(other.urlWithoutQuery))
        for name in Set(one.query.keys).union(other.query.keys).sorted() {
            add("query \(name)", one.query[name], other.query[name])
        }
    }

    /// Compares two texts of messages, JSON by its values.
    mutating func compare(_ label: String, recorded: [UInt8], sent: [UInt8]) {
        acceptsSecrets = true
        if recorded != sent { compare(label, recorded, sent) }
    }

    private mutating func compare(_ label: String, _ recorded: [UInt8], _ sent: [UInt8]) {
        if let one = try? JSONPart(wholeOf: recorded), let other = try? JSONPart(wholeOf: sent) {
            return compare(
                label, JSONNode(one.tape, JSONTape.root, recorded), JSONNode(other.tape, JSONTape.root, sent))
        }
        add(label, describe(recorded), describe(sent))
    }

    /// Adds the lengths of binary messages, and the first byte that differs.
    mutating func addBytes(_ label: String, recorded: [UInt8], sent: [UInt8]) {
        let index = zip(recorded, sent).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        func shown(_ bytes: [UInt8]) -> String {
            let size = "\(bytes.count) bytes"
            guard let index else { return size }
            let digits = String(bytes[index], radix: 16, uppercase: true)
            return "\(size), at \(index) 0x\(digits.count < 2 ? "0" : "")\(digits)"
        }
        add(label, shown(recorded), shown(sent))
    }

    /// Whether the bytes are the recorded ones, where each placeholder stands for a secret: a text without blanks and
    /// quotes.
    static func fits(_ sent: [UInt8], _ recorded: [UInt8]) -> Bool {
        var pieces = Pseudonyms.pieces(of: recorded)[...]
        guard let first = pieces.popFirst(), let last = pieces.popLast() else { return sent == recorded }
        guard sent.starts(with: first) else { return false }
        var position = first.count
        func isSecret(to end: Int) -> Bool {
            position < end && sent[position..<end].allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") }
        }
        for piece in pieces {
            // The first occurrence leaves the most to the rest.
            let found =
                piece.isEmpty
                ? position + 1 : position < sent.count ? sent.firstOffset(of: piece, from: position + 1) : nil
            guard let found, found < sent.count, isSecret(to: found) else { return false }
            position = found + piece.count
        }
        let end = sent.count - last.count
        return end > position && sent[end...].elementsEqual(last) && isSecret(to: end)
    }

    private func describe(_ body: [UInt8]) -> String? {
        guard !body.isEmpty else { return nil }
        return String(validating: body, as: UTF8.self)?.debugDescription ?? "\(body.count) bytes"
    }

    /// A value of a message that is JSON.
    private struct JSONNode {
        let tape: JSONTape
        let node: Int
        let bytes: [UInt8]

        init(_ tape: JSONTape, _ node: Int, _ bytes: [UInt8]) {
            self.tape = tape
            self.node = node
            self.bytes = bytes
        }

        var literal: String { String(decoding: bytes[tape.literal(of: node)], as: UTF8.self) }
        var members: [String: JSONNode] {
            Dictionary(
                tape.members(of: node).map { (tape.text(at: $0.key, in: bytes) ?? "?", at($0.value)) },
                uniquingKeysWith: { first, _ in first })
        }
        var elements: [JSONNode] { tape.elements(of: node).map { at($0) } }
        var canonical: [UInt8] { JSONPart(tape, at: node).canonical(in: bytes) }

        private func at(_ node: Int) -> JSONNode { JSONNode(tape, node, bytes) }
    }

    /// Compares two values; it recurses as deep as `JSONTape.depthLimit` allows them to nest.
    private mutating func compare(_ path: String, _ one: JSONNode?, _ other: JSONNode?) {
        guard let one, let other else { return add(path, one?.literal, other?.literal) }
        let kinds = (one.tape.kind(at: one.node), other.tape.kind(at: other.node))
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
        } else if kinds.0.isNumber, kinds.1.isNumber, kinds.0 != kinds.1 || kinds.0 == .number {
            // 1, 1.0 and 1e0 are one value.
            if Double(one.literal) != Double(other.literal) { add(path, one.literal, other.literal) }
        } else if one.canonical != other.canonical {
            add(path, one.literal, other.literal)
        }
    }
}
