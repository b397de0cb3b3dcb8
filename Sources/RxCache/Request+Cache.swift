package import FoundationEssentials
package import HTTPTypes
package import RxHTTP
import RxJSON

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
    /// fields of a form; `nil` for streamed content.
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
    /// The URL by which caches identify a request.
    package var cacheText: String { absoluteString.withoutUserInfo.withoutFragment }
}

extension String {
    /// The range of a URL's user info, including the `@` after it (RFC 3986 §3.2).
    fileprivate var userInfo: Range<Index>? {
        // Most URLs have none, and are not searched any further.
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
