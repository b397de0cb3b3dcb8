package import FoundationEssentials
package import HTTPTypes
package import RxHTTP
import RxJSON

extension Request {
    /// The URL as caches know it.
    package var cacheURL: String { urlText.withoutUserInfo.withoutFragment }

    /// User and password in the URL; `nil` where there are none.
    package var userInfo: Substring? { urlText.userInfo.map { urlText[$0].dropLast() } }

    /// Whether it changes nothing (RFC 9110 §9.2.1), by its method or by the app's word.
    package var isSafe: Bool { [.get, .head, .options, .trace].contains(method) || isDeclaredSafe }

    /// The fields that say who asks.
    package var identifyingFields: Set<HTTPField.Name> {
        secretFields.isEmpty ? Self.usualIdentifyingFields : Self.usualIdentifyingFields.union(secretFields)
    }

    private static let usualIdentifyingFields: Set<HTTPField.Name> = [
        .authorization, .cookie, .proxyAuthorization,
    ]

    /// A digest of type and content, the same in whatever order the members of an object or the fields of a form are
    /// written; `nil` for content that is made while it is sent.
    package var contentDigest: String? {
        let bytes: [UInt8]
        switch body {
        case .empty: bytes = []
        case .bytes(let content): bytes = canonical(content)
        case .streamed: return nil
        }
        return HexDigest.sha256(Array((headerFields[.contentType] ?? "").utf8) + [0] + bytes)
    }

    /// A zero byte before what is in canonical form, which tells it from what only looks like it.
    private func canonical(_ content: [UInt8]) -> [UInt8] {
        let type = (headerFields[.contentType] ?? "").lowercased()
        if type.hasPrefix("application/x-www-form-urlencoded") {
            let fields = content.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            // The fields of one name keep their order.
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
    /// The URL as caches know it.
    package var cacheText: String { absoluteString.withoutUserInfo.withoutFragment }
}

extension String {
    /// Where the user info of a URL stands, with the `@` behind it (RFC 3986 §3.2).
    fileprivate var userInfo: Range<Index>? {
        // Most have none, and no further look is taken at them.
        guard utf8.contains(UInt8(ascii: "@")), let slashes = firstRange(of: "//") else { return nil }
        let authority = self[slashes.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return authority.lastIndex(of: "@").map { slashes.upperBound..<index(after: $0) }
    }

    fileprivate var withoutUserInfo: String {
        guard let userInfo else { return self }
        return String(self[..<userInfo.lowerBound] + self[userInfo.upperBound...])
    }

    fileprivate var withoutFragment: String {
        guard utf8.contains(UInt8(ascii: "#")) else { return self }
        return String(prefix { $0 != "#" })
    }
}
