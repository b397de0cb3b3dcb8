package import FoundationEssentials
import HTTPTypes
package import RxHTTP

extension ResponseHead {
    /// Whether a private cache may store the response to a GET (RFC 9111 §3).
    package var isStorable: Bool {
        guard status.code >= 200, status.code != 206, status.code != 304 else { return false }
        let directives = CacheControl(self[.cacheControl])
        if directives.has("must-understand") {
            // RFC 9111 §5.2.2.3: in place of `no-store`, which stands there for caches that do not know it.
            guard status.isHeuristicallyCacheable else { return false }
        } else if directives.has("no-store") {
            return false
        }
        return directives.has("max-age") || directives.has("public") || directives.has("private")
            || directives.has("no-cache") || self[.expires] != nil || status.isHeuristicallyCacheable
    }

    /// Without what belongs to the connection, to this exchange, or to be asked for each time
    /// (RFC 9111 §3.1, §5.2.2.4).
    package var storable: ResponseHead {
        let directives = CacheControl(self[.cacheControl])
        let named = (self[.connection] ?? "").split(separator: ",").map { $0.trimmingBlanks().lowercased() }
        let dropped = Self.hopByHop.union(named).union(directives.fieldNames("no-cache"))
        return ResponseHead(
            status: status, headerFields: headerFields.filter { !dropped.contains($0.name.canonicalName) })
    }

    /// `Age` is told anew at each use.
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "age",
    ]

    /// With the fields of a 304 in the place of those of the same name (RFC 9111 §3.2); `nil` if that is more than a
    /// header section may be: there would be no end of it from one 304 to the next.
    package func updated(by confirmation: ResponseHead) -> ResponseHead? {
        let new = confirmation.storable.headerFields.filter {
            !Self.ofTheBody.contains($0.name.canonicalName)
        }
        let names = Set(new.map(\.name))
        let old = headerFields.filter { !names.contains($0.name) }
        guard old.count + new.count <= Self.mostFields else { return nil }
        let updated = ResponseHead(status: status, headerFields: old + new)
        return updated.fieldLines.count <= Self.mostBytes ? updated : nil
    }

    /// As many as a transport takes of a header section.
    private static let mostBytes = 256 << 10

    /// Fields that describe the body as it was stored.
    private static let ofTheBody: Set<String> = ["content-length", "content-encoding", "content-range"]

    /// With its age (RFC 9111 §5.1).
    package func telling(age: TimeInterval) -> ResponseHead {
        let seconds = age.isFinite ? Int(min(age, TimeInterval(1 << 31))) : 1 << 31
        var lines: [UInt8] = []
        lines.reserveCapacity(fieldLines.count + 20)
        lines += fieldLines
        lines += "Age: ".utf8
        lines += String(seconds).utf8
        lines += "\r\n".utf8
        return ResponseHead(status: status, fieldLines: lines, httpVersion: httpVersion)
    }

    /// Whether both name the same entity tag, or one of them none; weakly compared (RFC 9110 §8.8.3.2).
    package func hasSameTag(as other: ResponseHead) -> Bool {
        guard let own = self[.eTag], let others = other[.eTag] else { return true }
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        return opaque(own) == opaque(others)
    }
}
