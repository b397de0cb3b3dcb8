import HTTPTypes
import RxHTTP
import RxJSON

/// The compared parts of a request, in a canonical form.
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
        var names = Pseudonyms.masking
        var masked = Cassette.Exchange(method: method, url: "")
        masked.url = String(
            decoding: names.masked(Array(names.replaced(url: url, redaction).utf8)), as: UTF8.self)
        let type = headerFields[.contentType]
        for name in rules.comparedFields {
            let fields = names.replaced(HTTPFields(headerFields[fields: name]), redaction)
            for field in fields {
                let value = String(decoding: names.masked(Array(field.value.utf8)), as: UTF8.self)
                masked.headerFields.append(HTTPField(name: name, value: value))
            }
        }
        // The placeholders of all secret fields, compared or not, must be those of the cassette.
        for field in headerFields where redaction.hides(field.name) {
            _ = names.replaced(HTTPFields([field]), redaction)
        }
        masked.headerFields[.contentType] = type
        if rules.comparesBodies, !body.isEmpty {
            masked.body = names.masked(names.edits(in: body, type: type, redaction).applied(to: body))
        }
        secrets.formUnion(names.masked ?? [])
        return masked
    }
}
