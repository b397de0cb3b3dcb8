import FoundationEssentials
import HTTPTypes

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
        noteAddedFields(before)
        if urlText != before.urlText { try noteAddedURLParts(before) }
        noteAddedContent(before)
    }

    private mutating func noteAddedFields(_ before: Request) {
        for name in Set(headerFields.map(\.name)) where name != .contentType {
            if headerFields[values: name] != before.headerFields[values: name] { secretFields.insert(name) }
        }
    }

    private mutating func noteAddedURLParts(_ before: Request) throws(NetworkError) {
        let (old, new) = (URLParts(before.urlText), URLParts(urlText))
        if old.place != new.place {
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

    private mutating func noteAddedContent(_ before: Request) {
        guard !body.isSame(as: before.body) else { return }
        if secretAdditions.content == nil {
            secretAdditions.content = .init(body: before.body, type: before.headerFields[.contentType])
        }
        // Streamed content is never shown.
        guard case .bytes(let bytes) = body else { return }
        let type = headerFields[.contentType]
        guard let new = ContentMembers(bytes, type: type) else { return secretAdditions.hidesContent = true }
        var old: ContentMembers?
        if case .bytes(let bytes) = before.body {
            old = ContentMembers(bytes, type: before.headerFields[.contentType])
        }
        secretParameters.formUnion(new.names(besides: old))
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
        let kept = parts.query.filter { !additions.include(item: $0) }
        let segments = parts.place.split(separator: "/", omittingEmptySubsequences: false)
        let keptSegments = segments.filter { !additions.texts.contains(String($0)) }
        guard kept.count < parts.query.count || keptSegments.count < segments.count else { return }
        let query = kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
        setURL(sentAs: keptSegments.joined(separator: "/") + query + parts.fragment)
    }

    /// Removes the secret fields and the Digest credentials.
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
