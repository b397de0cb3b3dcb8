import HTTPTypes
import RxHTTP

extension CacheVariant {
    /// The fields that the answer to `request` was chosen by; `nil` where no other request can match (`*`).
    ///
    /// - Parameter jar: whose cookies the request carries.
    init?(_ head: ResponseHead, to request: Request, cookies jar: CookieJar?) {
        guard let vary = head[.vary] else {
            self.init()
            return
        }
        let names = vary.split(separator: ",").map { $0.trimmingBlanks().lowercased() }.filter { !$0.isEmpty }
        guard !names.contains("*") else { return nil }
        var fields: [String: String?] = [:]
        for name in names { fields[name] = Self.value(of: name, in: request, jar) }
        self.init(fields)
    }

    /// Whether an answer of this variant fits `request` (RFC 9111 §4.1).
    func matches(_ request: Request, cookies jar: CookieJar?) -> Bool {
        fields.isEmpty || fields.allSatisfy { $0.value == Self.value(of: $0.key, in: request, jar) }
    }

    /// Lines joined and blanks around commas left out, since neither means anything (RFC 9110 §5.3).
    private static func value(of name: String, in request: Request, _ jar: CookieJar?) -> String? {
        guard let field = HTTPField.Name(name) else { return nil }
        var request = request
        if field == .cookie, let jar, !request.isCredentialFree, let origin = CookieOrigin(request.url) {
            request = jar.adding(to: request, at: origin).0
        }
        guard let value = request.headerFields[field] else { return nil }
        let isSecret = [.authorization, .cookie, .proxyAuthorization].contains(field)
        if isSecret || request.secretFields.contains(field) { return Digest.sha256(value.utf8) }
        return value.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingBlanks() }
            .joined(separator: ",")
    }
}
