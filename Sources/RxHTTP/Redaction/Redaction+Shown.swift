public import HTTPTypes

extension Redaction {
    /// Content with secret values replaced: forms, multipart content, event streams, and every other text, in which
    /// JSON, URLs and tokens are looked for. It may be malformed, or truncated anywhere. Binary content is returned
    /// unchanged.
    ///
    /// - Parameter type: the `Content-Type`, which may be missing or wrong.
    public func shown(_ content: [UInt8], type: String?) -> [UInt8] {
        shown(content) { finder, mark in finder.content(type: type, &mark) }
    }

    /// A JSON text with the values of secret members, secrets in URLs, and tokens replaced. It may be malformed or
    /// truncated.
    public func shown(json: [UInt8]) -> [UInt8] { shown(json) { finder, mark in finder.text(&mark) } }

    /// A URL, or a text that contains URLs, with the user info, the values of secret parameters, and tokens replaced.
    public func shown(url text: String) -> String {
        shown(text) { finder, mark in finder.url(&mark).merging(finder.tokens(&mark)) }
    }

    /// The pairs of a query or an `application/x-www-form-urlencoded` body, with secret values and tokens replaced.
    public func shown(form text: String) -> String {
        shown(text) { finder, mark in finder.form(&mark) }
    }

    /// The fields in order, with secret values replaced. In the values of other fields, the secrets of URLs and JSON
    /// and tokens are replaced.
    public func shown(_ fields: HTTPFields) -> [(name: String, value: String)] {
        fields.map { field in (field.name.rawName, shown(field)) }
    }

    private func shown(_ field: HTTPField) -> String {
        guard !hides(field.name) else { return Self.mark }
        return shown(field.value) { finder, mark in finder.text(&mark, isInText: false) }
    }

    private func shown(_ text: String, _ find: (SecretFinder, inout Mark) -> TextEdits) -> String {
        String(decoding: shown(Array(text.utf8), find), as: UTF8.self)
    }

    private func shown(_ content: [UInt8], _ find: (SecretFinder, inout Mark) -> TextEdits) -> [UInt8] {
        var mark = Mark()
        return find(SecretFinder(content, self), &mark).applied(to: content)
    }
}

/// Replaces each secret by ``Redaction/mark``.
private struct Mark: SecretReplacement {
    var keepsShape: Bool { false }

    func placeholder(for secret: String) -> String { Redaction.mark }
}

extension StringProtocol {
    /// The text with form escapes decoded (WHATWG URL §5.1); invalid escapes stay.
    package var decodedAsForm: String {
        String(decoding: UnescapedText(form: Array(utf8)[...]).bytes, as: UTF8.self)
    }
}
