package import HTTPTypes
package import RxHTTP

extension CacheVariant {
    /// A `Vary` with more names counts as `*`.
    private static let mostNames = 64

    /// The fields by which a response was selected; `nil` if no other request can match (`*`).
    ///
    /// - Parameters:
    ///   - head: the head that names the fields.
    ///   - sent: the fields of the request as sent.
    ///   - secret: the fields of which only a digest is stored.
    ///   - ignoringAny: whether `*` is ignored. Default false.
    package init?(
        _ head: ResponseHead, sent: HTTPFields, secret: Set<HTTPField.Name>, ignoringAny: Bool = false
    ) {
        guard let vary = head[.vary] else {
            self.init()
            return
        }
        var names = Set(
            vary.split(separator: ",").map { $0.trimmingBlanks().lowercased() }.filter { !$0.isEmpty })
        if ignoringAny { names.remove("*") }
        guard !names.contains("*"), names.count <= Self.mostNames else { return nil }
        var fields: [String: String?] = [:]
        for name in names { fields[name] = .some(Self.value(of: name, in: sent, secret)) }
        self.init(fields)
    }

    /// Whether a response of this variant fits a request with the fields `sent` (RFC 9111 §4.1).
    package func matches(_ sent: HTTPFields, secret: Set<HTTPField.Name>) -> Bool {
        fields.allSatisfy { $0.value == Self.value(of: $0.key, in: sent, secret) }
    }

    /// Whether the response was selected by a field that identifies the requester, or by a secret one.
    package func dependsOn(_ secret: Set<HTTPField.Name>) -> Bool {
        fields.keys.contains { HTTPField.Name($0).map(secret.contains) == true }
    }

    /// Joins lines and removes blanks around commas, which have no meaning (RFC 9110 §5.3).
    private static func value(
        of name: String, in sent: HTTPFields, _ secret: Set<HTTPField.Name>
    ) -> String? {
        guard let field = HTTPField.Name(name), let value = sent[field] else { return nil }
        if secret.contains(field) { return HexDigest.sha256(value.utf8) }
        return value.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
            .joined(separator: ",")
    }
}
