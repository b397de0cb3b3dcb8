import FoundationEssentials
import HTTPTypes
import RxHTTP

/// The links of a `Link` field (RFC 8288 §3).
///
/// Malformed links are skipped; the links around them still count. A link with an `anchor` concerns another
/// document, and its relation is ignored here (RFC 8288 §3.2).
struct LinkHeader: Equatable {
    struct Link: Equatable {
        var target: String
        var relations: [String]
    }

    private(set) var links: [Link] = []

    init(_ value: String) {
        var scanner = Scanner(value)
        while let link = scanner.nextLink() { links.append(link) }
    }

    /// The target of the first link with a relation, as an absolute URL resolved against the URL of the
    /// response.
    ///
    /// - Throws: `paging` if the target is not an http or https URL.
    func target(of relation: String, in response: Response) throws(NetworkError) -> URL? {
        guard let link = links.first(where: { $0.relations.contains(relation.lowercased()) }) else {
            return nil
        }
        guard !link.target.isEmpty, let url = URL(reference: link.target, base: response.url),
            Origin(url) != nil
        else {
            throw NetworkError(
                .paging, "the \(relation) link \(link.target.withoutSecrets) is not an http or https URL",
                request: response.request)
        }
        return url
    }

    private struct Scanner {
        private let bytes: [UInt8]
        private var index = 0

        init(_ text: String) { bytes = Array(text.utf8) }

        private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

        /// The next `<target>; name=value; …`; skips any text before it.
        mutating func nextLink() -> Link? {
            while let byte = current, byte != UInt8(ascii: "<") {
                if byte == UInt8(ascii: "\"") {
                    _ = QuotedString.read(from: bytes, at: &index)
                } else {
                    index += 1
                }
            }
            guard current != nil else { return nil }
            index += 1
            var link = Link(target: text { $0 == UInt8(ascii: ">") }, relations: [])
            guard current != nil else { return nil }
            index += 1
            var hasRelation = false
            var hasAnchor = false
            while let (name, value) = nextParameter() {
                if name == "anchor" { hasAnchor = true }
                // Only the first of several rel parameters counts (RFC 8288 §3.3).
                guard name == "rel", !hasRelation else { continue }
                hasRelation = true
                link.relations = value.lowercasedToken().split(separator: " ").map(String.init)
            }
            if hasAnchor { link.relations = [] }
            return link
        }

        /// The next `; name=value` of this link; `nil` at the comma after it and at the end.
        private mutating func nextParameter() -> (name: String, value: String)? {
            while let byte = current, byte != UInt8(ascii: ";") {
                if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "<") { return nil }
                index += 1
            }
            guard current != nil else { return nil }
            index += 1
            let name = text { [UInt8(ascii: "="), UInt8(ascii: ";"), UInt8(ascii: ",")].contains($0) }
            guard current == UInt8(ascii: "=") else { return (name.trimmingBlanks().lowercasedToken(), "") }
            index += 1
            while let byte = current, byte == 0x20 || byte == 0x09 { index += 1 }
            if current == UInt8(ascii: "\"") {
                return (name.trimmingBlanks().lowercasedToken(), QuotedString.read(from: bytes, at: &index))
            }
            let value = text { [UInt8(ascii: ";"), UInt8(ascii: ",")].contains($0) }
            return (name.trimmingBlanks().lowercasedToken(), String(value.trimmingBlanks()))
        }

        /// The text up to the first byte for which `isEnd` returns true.
        private mutating func text(until isEnd: (UInt8) -> Bool) -> String {
            let start = index
            while let byte = current, !isEnd(byte) { index += 1 }
            return String(decoding: bytes[start..<index], as: UTF8.self)
        }
    }
}

extension HTTPField.Name {
    /// `Link` (RFC 8288).
    static let link = HTTPField.Name("Link")!
}
