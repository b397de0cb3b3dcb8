import FoundationEssentials
package import HTTPTypes
package import RxHTTP

extension Parameters {
    /// Adds the parameters to a request.
    ///
    /// - Throws: `invalidParameters`, which names the parameter that cannot be encoded.
    package func apply(
        to request: inout Request, with defaults: ParameterDefaults
    ) throws(NetworkError) {
        if !secrets.isEmpty { request.secretParameters.formUnion(secrets) }
        let style = style ?? defaults.style
        let encoder = defaults.encoder
        switch format(for: request.method, with: defaults) {
        case .query, .standard:
            try request.appendQuery(try style.write(try pairs(encoder, style)))
        case .form:
            let body = try pairs(encoder, style).encodedAsForm
            request.setBody(.text(body), contentType: "application/x-www-form-urlencoded")
        case .json:
            let data =
                if let model = unchangedModel { try encoder.data(of: model) } else {
                    try encoder.data(of: try namedTree(encoder))
                }
            request.setBody(.bytes(Array(data)), contentType: "application/json")
        case .text(let text):
            request.setBody(.text(text), contentType: "text/plain; charset=utf-8")
            try request.appendQuery(try style.write(try pairs(encoder, style)))
        case .multipart(let parts):
            let form = Multipart(self.parts(parts, and: try pairs(encoder, style)))
            // Replaces any content type of the endpoint, because only this one has the boundary.
            request.headerFields[.contentType] = form.contentType
            request.body = try form.body()
        case .custom(let contentType, let write):
            let value: any Encodable & Sendable =
                if let model = unchangedModel { model } else { try namedTree(encoder) }
            request.setBody(try Body(of: value, as: contentType, write), contentType: contentType)
        case .body(let body, let contentType):
            request.setBody(body, contentType: contentType)
            try request.appendQuery(try style.write(try pairs(encoder, style)))
        }
    }

    private func format(for method: HTTPRequest.Method, with defaults: ParameterDefaults) -> Format {
        guard case .standard = format else { return format }
        // The documentation of ``Parameters/standard(_:)`` names these methods.
        return switch method {
        case .get, .head, .delete: .query
        default: Format(defaults.format)
        }
    }

    /// The members of the body to sign: every scalar with its full name, and the texts of a multipart form.
    /// Empty for a JSON list at the top level, and for a body without members. Its cases go with those of
    /// ``apply(to:with:)``.
    package func signedPairs(
        for method: HTTPRequest.Method, with defaults: ParameterDefaults
    ) throws(NetworkError) -> [ParameterPair] {
        let style = style ?? defaults.style
        switch format(for: method, with: defaults) {
        case .query, .standard, .text, .body: return []
        case .form: return try pairs(defaults.encoder, style)
        case .json, .custom:
            return try tree(defaults.encoder).map { $0.pairs(style) } ?? []
        case .multipart(let parts):
            return self.parts(parts, and: try pairs(defaults.encoder, style)).compactMap { part in
                guard part.fileName == nil, case .bytes(let bytes) = part.body else { return nil }
                return (part.name, String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    /// The parts of a form, without the removed ones; added parts replace parts of the same name.
    private func parts(_ parts: [Multipart.Part], and pairs: [ParameterPair]) -> [Multipart.Part] {
        let replaced = removals.union(additions.keys)
        return parts.filter { !replaced.contains($0.name) }
            + pairs.map { Multipart.Part.text($0.name, $0.value) }
    }

    /// The model to encode if nothing has been added or removed.
    private var unchangedModel: (any Encodable & Sendable)? {
        guard additions.isEmpty, removals.isEmpty, let content else { return nil }
        return switch content {
        case .values(let values): values.present.mapValues(ParameterValue.init)
        case .model(let model): model
        }
    }

    private func pairs(
        _ encoder: JSONEncoder, _ style: ParameterStyle
    ) throws(NetworkError) -> [ParameterPair] {
        if let pairs = scalarPairs { return pairs }
        if case .model(let model)? = content, case .array(let elements) = try encoder.tree(of: model) {
            return try pairs(of: elements, encoder, style)
        }
        return try namedTree(encoder).pairs(style)
    }

    /// The members of each object of a list, then the added ones.
    private func pairs(
        of elements: [JSONValue], _ encoder: JSONEncoder, _ style: ParameterStyle
    ) throws(NetworkError) -> [ParameterPair] {
        var pairs: [ParameterPair] = []
        let replaced = removals.union(additions.keys)
        for element in elements {
            guard case .object(let members) = element else { throw .nameless }
            pairs += JSONValue.object(members.filter { !replaced.contains($0.key) }).pairs(style)
        }
        guard !additions.isEmpty else { return pairs }
        return pairs
            + JSONValue.object(try encoder.trees(of: additions.mapValues(ParameterValue.init))).pairs(style)
    }

    /// The pairs if each value is a scalar, which needs neither encoder nor style.
    private var scalarPairs: [ParameterPair]? {
        guard additions.isEmpty, removals.isEmpty else { return nil }
        guard let content else { return [] }
        guard case .values(let values) = content else { return nil }
        var pairs: [ParameterPair] = []
        pairs.reserveCapacity(values.count)
        for case (let name, let value?) in values {
            guard let text = ParameterValue(value: value).scalar?.scalarText else { return nil }
            pairs.append((name, text))
        }
        // The order of `JSONValue.pairs(_:)`.
        if pairs.count > 1 { pairs.sort { $0.name < $1.name } }
        return pairs
    }

    private func namedTree(_ encoder: JSONEncoder) throws(NetworkError) -> JSONValue {
        guard let tree = try tree(encoder) else { throw .nameless }
        return tree
    }

    /// All parameters as one JSON object; `nil` for a model that is not an object.
    private func tree(_ encoder: JSONEncoder) throws(NetworkError) -> JSONValue? {
        var members: [String: JSONValue] = [:]
        switch content {
        case .values(let values):
            members = try encoder.trees(of: values.present.mapValues(ParameterValue.init))
        case .model(let model):
            guard case .object(let own) = try encoder.tree(of: model) else { return nil }
            members = own
        case nil: break
        }
        if !additions.isEmpty {
            members.merge(try encoder.trees(of: additions.mapValues(ParameterValue.init))) { $1 }
        }
        for name in removals { members[name] = nil }
        return .object(members)
    }
}

extension NetworkError {
    fileprivate static var nameless: NetworkError {
        NetworkError(
            .invalidParameters,
            "the parameters are neither a JSON object nor a list of objects, so they have no names")
    }
}

extension Request {
    /// Appends encoded pairs to the query. `URLText.appendingQuery` joins in the same way; change both.
    package mutating func appendQuery(_ query: String) throws(NetworkError) {
        guard !query.isEmpty, !appendEscapedQuery(query) else { return }
        var text = url.absoluteString
        if let fragment = text.utf8.firstIndex(of: UInt8(ascii: "#")) { text.removeSubrange(fragment...) }
        // The first question mark begins the query; others are part of it (RFC 3986 §3.4).
        let existing = text.utf8.firstIndex(of: UInt8(ascii: "?")).map { text.utf8[$0...].dropFirst() }
        let separator = existing.map { $0.isEmpty || $0.last == UInt8(ascii: "&") ? "" : "&" } ?? "?"
        guard let url = URL(string: text + separator + query) else {
            throw NetworkError(.invalidURL, "the query cannot be added to the URL", request: self)
        }
        self.url = url
    }

    /// Removes the parameters with this name, plain or percent-encoded, from the query. If there are any, the fragment
    /// goes too.
    package mutating func removeQuery(named name: String) {
        let parts = url.absoluteString.prefix { $0 != "#" }
            .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let names = [name, name.percentEncoded]
        let pairs = parts[1].split(separator: "&", omittingEmptySubsequences: false)
        let kept = pairs.filter { pair in !names.contains(String(pair.prefix { $0 != "=" })) }
        guard kept.count < pairs.count else { return }
        url = URL(string: parts[0] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))) ?? url
    }

    /// Sets the body, and its content type unless the endpoint sets one. ``Redaction`` and the keys of caches read the
    /// body by this type.
    package mutating func setBody(_ body: Body, contentType: String?) {
        self.body = body
        if headerFields[.contentType] == nil { headerFields[.contentType] = contentType }
    }
}

extension JSONEncoder {
    /// Encodes `model`; throws `invalidParameters`, which names the value that cannot be encoded.
    func data(of model: some Encodable) throws(NetworkError) -> Data {
        do {
            return try encode(model)
        } catch EncodingError.invalidValue(_, let context) {
            throw .unencodable(context)
        } catch {
            throw NetworkError(.invalidParameters, "the parameters cannot be encoded: \(error)")
        }
    }

    /// Encodes `model` as a tree.
    func tree(of model: some Encodable) throws(NetworkError) -> JSONValue {
        guard let tree = JSONValue(parsing: Array(try data(of: model))) else {
            throw NetworkError(.invalidParameters, "the parameters are nested too deeply, or too large")
        }
        return tree
    }

    /// Encodes the values of a dictionary as trees, with unchanged keys.
    func trees(of values: [String: ParameterValue]) throws(NetworkError) -> [String: JSONValue] {
        var trees = values.compactMapValues(\.scalar)
        guard trees.count < values.count else { return trees }
        let others = values.filter { trees[$0.key] == nil }
        if case .object(let rest) = try tree(of: others) { trees.merge(rest) { $1 } }
        return trees
    }
}

extension NetworkError {
    /// An error that names the place and not the value, which may be, or contain, a secret.
    static func unencodable(_ context: EncodingError.Context) -> NetworkError {
        NetworkError(
            .invalidParameters,
            "the value at \(context.codingPath.text(or: "the top level")) cannot be encoded: "
                + context.debugDescription)
    }
}
