package import FoundationEssentials
package import HTTPTypes
public import RxHTTP
import RxJSON

/// The key that a response is stored under. Responses with the same key are variants of each other: the
/// server selected them by other fields of the request (RFC 9111 §4.1).
public struct CacheKey: Hashable, Sendable, Codable {
    // The names of the members, and the values of ``Rules``, are stored; see the keys of ``CacheEntry/Metadata``.

    /// The rules by which a response is stored. Responses stored by one set of rules are never used by
    /// another.
    package enum Rules: String, Sendable, Codable {
        /// RFC 9111.
        case http
        /// A lifetime that the app sets.
        case time
    }

    /// The rules by which the response is stored.
    package var rules: Rules
    /// The method of the request.
    public var method: String
    /// The absolute URL, with query and without fragment.
    public var url: String
    /// The identity of the requester: a name or a number of the account, or a digest of its credential; never the
    /// credential itself. Empty without an account.
    public var identity: String
    /// A digest of the request's content; empty without content.
    public var content: String

    /// Creates a key of a response that is stored by RFC 9111.
    public init(method: String = "GET", url: String, identity: String = "", content: String = "") {
        self.init(rules: .http, method: method, url: url, identity: identity, content: content)
    }

    package init(
        rules: Rules, method: String = "GET", url: String, identity: String = "", content: String = ""
    ) {
        self.rules = rules
        self.method = method
        self.url = url
        self.identity = identity
        self.content = content
    }

    /// Whether the response represents the resource at the URL, and is not the result of a POST.
    /// `CacheTable` on disk and `CacheNames` in fleets say the same.
    package var isResource: Bool { method == "GET" }

    /// The URL before the query. Stores on disk and in fleets find responses by it.
    public var urlWithoutQuery: Substring { url.prefix { $0 != "?" } }
}

extension CacheKey: RedactedDescription {
    /// Method and URL without user info and query.
    public var description: String { "\(method) \(url.withoutSecrets) (\(rules))" }
}

extension Request {
    /// The URL by which caches identify the request.
    package var cacheURL: String { urlText.withoutUserInfo.withoutFragment }

    /// User and password in the URL; `nil` if there are none.
    package var userInfo: Substring? { urlText.userInfo.map { urlText[$0].dropLast() } }

    /// Whether the request changes nothing (RFC 9110 §9.2.1), by its method or by declaration.
    package var isSafe: Bool {
        switch method {
        case .get, .head, .options, .trace: true
        default: isDeclaredSafe
        }
    }

    /// The fields that identify the requester.
    package var identifyingFields: Set<HTTPField.Name> {
        secretFields.isEmpty ? Self.usualIdentifyingFields : Self.usualIdentifyingFields.union(secretFields)
    }

    private static let usualIdentifyingFields: Set<HTTPField.Name> = [
        .authorization, .cookie, .proxyAuthorization,
    ]

    /// A digest of type and content, which does not depend on the order of the members of an object or of the
    /// fields of a form; `nil` for streamed content. Part of stored keys: with other digests, stored responses to
    /// POST are not found any more.
    package var contentDigest: String? {
        let bytes: [UInt8]
        switch body {
        case .empty: bytes = []
        case .bytes(let content): bytes = canonical(content)
        case .streamed: return nil
        }
        return HexDigest.sha256(Array((headerFields[.contentType] ?? "").utf8) + [0] + bytes)
    }

    /// A leading zero byte marks the canonical form, so that no other content equals it.
    private func canonical(_ content: [UInt8]) -> [UInt8] {
        let type = (headerFields[.contentType] ?? "").lowercased()
        if type.hasPrefix("application/x-www-form-urlencoded") {
            let fields = content.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            // Fields with the same name keep their order.
            let sorted = fields.sorted { first, second in
                if first.name.lexicographicallyPrecedes(second.name) { return true }
                return first.startIndex < second.startIndex
                    && !second.name.lexicographicallyPrecedes(first.name)
            }
            return [0] + sorted.joined(separator: CollectionOfOne(UInt8(ascii: "&")))
        }
        guard type.contains("json"), let document = try? JSONPart(wholeOf: content) else { return content }
        return [0] + document.canonical(in: content)
    }
}

extension ArraySlice<UInt8> {
    fileprivate var name: ArraySlice { prefix { $0 != UInt8(ascii: "=") } }
}

extension URL {
    /// The URL by which caches identify a request, the same as ``RxHTTP/Request/cacheURL``.
    package var cacheText: String { absoluteString.withoutUserInfo.withoutFragment }
}

extension String {
    /// The range of a URL's user info, including the `@` after it (RFC 3986 §3.2).
    fileprivate var userInfo: Range<Index>? {
        // Most URLs have none, and are not searched any further.
        guard !allBytes({ $0 != UInt8(ascii: "@") }), let slashes = firstRange(of: "//") else { return nil }
        let authority = self[slashes.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return authority.lastIndex(of: "@").map { slashes.upperBound..<index(after: $0) }
    }

    fileprivate var withoutUserInfo: String {
        guard let userInfo else { return self }
        return String(self[..<userInfo.lowerBound] + self[userInfo.upperBound...])
    }

    fileprivate var withoutFragment: String {
        guard !allBytes({ $0 != UInt8(ascii: "#") }) else { return self }
        return String(prefix { $0 != "#" })
    }
}

/// The request fields by which a server selected a response, as its `Vary` names them (RFC 9111 §4.1).
package struct CacheVariant: Hashable, Sendable, Codable {
    /// The values by the fields' names in lower case; `nil` for an absent field. Secret values are stored as
    /// digests. The name of the property is stored, too; see the keys of ``CacheEntry/Metadata``.
    package var fields: [String: String?]

    /// Creates a variant.
    package init(_ fields: [String: String?] = [:]) { self.fields = fields }
}

extension CacheVariant: RedactedDescription {
    /// The names of the fields.
    package var description: String { fields.keys.sorted().joined(separator: ", ") }
}

extension CacheVariant {
    /// A `Vary` with more names counts as `*`.
    private static let maxNames = 64

    /// The fields by which a response was selected; `nil` if no other request can match (`*`).
    ///
    /// - Parameters:
    ///   - head: the head that names the fields.
    ///   - sent: the fields of the request as sent.
    ///   - secret: the fields that are stored as digests only.
    ///   - ignoringAny: whether `*` is ignored. Default false.
    package init?(
        _ head: ResponseHead, sent: HTTPFields, secret: Set<HTTPField.Name>, ignoringAny: Bool = false
    ) {
        guard let vary = head[.vary] else {
            self.init()
            return
        }
        var names = Set(
            vary.parts(at: ",").map { $0.trimmingBlanks().lowercasedToken() }.filter { !$0.isEmpty })
        if ignoringAny { names.remove("*") }
        guard !names.contains("*"), names.count <= Self.maxNames else { return nil }
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
