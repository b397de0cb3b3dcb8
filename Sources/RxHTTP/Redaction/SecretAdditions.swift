import FoundationEssentials
import HTTPTypes
import RxJSON

/// The additions of credentials and signatures to a request, recorded in order to hide and remove them.
package struct SecretAdditions: Sendable, Hashable {
    struct Content: Hashable {
        let body: Body
        let type: String?
    }

    /// The content before the first addition to it, with its type; `nil` while nothing has been added to the
    /// content.
    var content: Content?
    /// Pairs of the query, unescaped, as `name=value`.
    var query: Set<String> = []
    /// Path segments, and query names without a value.
    var texts: Set<String> = []
    /// Whether the whole content is hidden, because the addition has no name in it.
    var hidesContent = false

    /// Whether a query item, as written, is an addition.
    func contains(item: Substring) -> Bool {
        let (name, value) = URLParts.pair(item)
        return value.map { query.contains("\(name)=\($0)") } ?? texts.contains(name)
    }
}

extension Request {
    /// Changes the request and keeps everything that the change adds secret: it is hidden wherever the
    /// request is shown, and ``dropSecrets()`` removes it.
    ///
    /// Fields are identified by name; so are parameters of the query, of a form, of a JSON object and of a
    /// multipart form. Content of any other type becomes secret as a whole.
    ///
    /// - Throws: the error of `change`, and `invalidURL` if the change leads to another origin.
    package mutating func addSecrets(
        _ change: (inout Request) throws(NetworkError) -> Void
    ) throws(NetworkError) {
        let before = self
        try change(&self)
        recordAddedFields(before)
        if urlText != before.urlText { try recordAddedURLParts(before) }
        recordAddedContent(before)
    }

    private mutating func recordAddedFields(_ before: Request) {
        let known = before.headerFields
        // `Authorization` is hidden in any case.
        for field in headerFields
        where field.name != .contentType && field.name != .authorization && !known.contains(field) {
            secretFields.insert(field.name)
        }
    }

    private mutating func recordAddedURLParts(_ before: Request) throws(NetworkError) {
        let (old, new) = (URLParts(before.urlText), URLParts(urlText))
        if old.urlWithoutQuery != new.urlWithoutQuery {
            guard Origin(url) == Origin(before.url) else {
                throw NetworkError(
                    .invalidURL, "a credential or signature changed the request's origin",
                    request: before)
            }
            secretAdditions.texts.formUnion(new.segments.subtracting(old.segments))
        }
        let known = Set(old.pairs.map { [$0.0, $0.1] })
        for (name, value) in new.pairs where !known.contains([name, value]) {
            if let value {
                secretParameters.insert(name)
                secretAdditions.query.insert("\(name)=\(value)")
            } else {
                secretAdditions.texts.insert(name)
            }
        }
    }

    private mutating func recordAddedContent(_ before: Request) {
        guard !body.isSame(as: before.body) else { return }
        if secretAdditions.content == nil {
            secretAdditions.content = .init(body: before.body, type: before.headerFields[.contentType])
        }
        // Streamed content is never shown.
        guard case .bytes(let bytes) = body else { return }
        let type = headerFields[.contentType]
        guard let new = NamedFields(bytes, type: type) else { return secretAdditions.hidesContent = true }
        var old: NamedFields?
        if case .bytes(let bytes) = before.body {
            old = NamedFields(bytes, type: before.headerFields[.contentType])
        }
        secretParameters.formUnion(new.namesAddedOrChanged(since: old))
    }

    /// Removes what another origin must not see: secret fields, and everything added by ``addSecrets(_:)``,
    /// also from a path or a query that repeats it. No credential may be added afterwards.
    package mutating func dropSecrets() {
        dropSecretFields()
        credentialVersion = nil
        isCredentialFree = true
        guard let additions = secretAdditionsIfAny else { return }
        if let content = additions.content, !body.isNone {
            body = content.body
            headerFields[.contentType] = content.type
        }
        guard !additions.query.isEmpty || !additions.texts.isEmpty else { return }
        let parts = URLParts(urlText)
        let kept = parts.query.filter { !additions.contains(item: $0) }
        let segments = parts.urlWithoutQuery.parts(at: "/", omittingEmpty: false)
        let keptSegments = segments.filter { !additions.texts.contains(String($0)) }
        guard kept.count < parts.query.count || keptSegments.count < segments.count else { return }
        let query = kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
        setURL(sentAs: keptSegments.joined(separator: "/") + query + parts.fragment)
    }

    /// Removes all fields that ``redaction`` hides, and the Digest credentials.
    package mutating func dropSecretFields() {
        let redaction = redaction
        for name in Set(headerFields.map(\.name)) where redaction.hides(name) { headerFields[name] = nil }
        digest = nil
    }

    /// Content as it may be shown: with secret values replaced, or hidden as a whole.
    ///
    /// - Parameter content: the content of the request, or the beginning of it.
    package func shown(_ content: [UInt8]) -> [UInt8] {
        guard secretAdditionsIfAny?.hidesContent != true else { return Array(Redaction.mark.utf8) }
        return redaction.shown(content, type: headerFields[.contentType])
    }
}

extension Body {
    /// Whether both certainly have the same content.
    package func isSame(as other: Body) -> Bool {
        switch (self, other) {
        case (.empty, .empty): true
        case (.bytes(let one), .bytes(let two)): one == two
        default: false
        }
    }

    fileprivate var isNone: Bool { if case .empty = self { true } else { false } }
}

/// The named fields of content: form pairs, members of a JSON object, parts of a multipart form.
struct NamedFields {
    private var values: [String: [ArraySlice<UInt8>]] = [:]

    /// Reads content in memory; `nil` for a type without named fields, and for malformed content. In each
    /// type that is read here, ``SecretFinder/content(type:_:)`` must find values by their names, since only
    /// these are hidden.
    init?(_ content: [UInt8], type: String?) {
        let media = MediaType(type)
        if media.isForm {
            for item in String(decoding: content, as: UTF8.self).parts(at: "&") {
                let (name, value) = URLParts.pair(item)
                values[name, default: []].append(ArraySlice((value ?? "").utf8))
            }
        } else if media.isJSON {
            guard let document = try? JSONPart(wholeOf: content),
                let members = document.tape.members(in: content)
            else { return nil }
            for (name, value) in members { values[name, default: []].append(value) }
        } else if let form = MultipartText(content, type: type) {
            for part in form.parts { values[part.name ?? "", default: []].append(content[part.content]) }
        } else {
            return nil
        }
    }

    /// The names whose values are others than in `former`. If that is `nil`, since the former content has no named
    /// fields or is malformed, all names count as added, which is the safe side.
    func namesAddedOrChanged(since former: NamedFields?) -> Set<String> {
        Set(values.filter { former?.values[$0.key] != $0.value }.keys)
    }
}

/// The parts of a URL's text in which additions are looked for.
struct URLParts {
    /// The URL before its query and fragment.
    let urlWithoutQuery: Substring
    /// The query items, as written.
    let query: [Substring]
    /// The fragment with its `#`; empty without one.
    let fragment: Substring

    init(_ text: String) {
        let end = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        fragment = text[end...]
        let rest = text[..<end]
        let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?"))
        urlWithoutQuery = rest[..<(mark ?? rest.endIndex)]
        query = mark.map { rest[rest.utf8.index(after: $0)...].parts(at: "&", omittingEmpty: false) } ?? []
    }

    /// The segments of the path, and scheme and authority.
    var segments: Set<String> { Set(urlWithoutQuery.parts(at: "/").map(String.init)) }

    /// The pairs of the query, unescaped.
    var pairs: [(name: String, value: String?)] { query.filter { !$0.isEmpty }.map(Self.pair) }

    /// One query item, unescaped; the value is `nil` if it has no `=`.
    static func pair(_ item: Substring) -> (name: String, value: String?) {
        guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            return (item.decodedAsForm, nil)
        }
        return (
            item[..<equals].decodedAsForm, item[item.utf8.index(after: equals)...].decodedAsForm
        )
    }
}
