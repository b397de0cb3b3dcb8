import FoundationEssentials
import HTTPTypes
package import RxHTTP

extension Request {
    /// Appends encoded pairs to the query.
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

    /// Removes the parameters with this name from the query.
    package mutating func removeQuery(named name: String) {
        let parts = url.absoluteString.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let names = [name, name.percentEncoded]
        let pairs = parts[1].prefix { $0 != "#" }.split(separator: "&", omittingEmptySubsequences: false)
        let kept = pairs.filter { pair in !names.contains(String(pair.prefix { $0 != "=" })) }
        guard kept.count < pairs.count else { return }
        url = URL(string: parts[0] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))) ?? url
    }

    package mutating func setBody(_ body: Body, contentType: String?) {
        self.body = body
        if headerFields[.contentType] == nil { headerFields[.contentType] = contentType }
    }
}
