import FoundationEssentials
import HTTPTypes
import RxHTTP

extension Request {
    /// The URL as caches know it.
    var cacheURL: String { urlText.withoutFragment }

    /// A digest of type and content, the same in whatever order the members of an object or the fields of a form are
    /// written; `nil` for content that is made while it is sent.
    var contentDigest: String? {
        let bytes: [UInt8]
        switch body {
        case .empty: bytes = []
        case .bytes(let content): bytes = canonical(content)
        case .streamed: return nil
        }
        return Digest.sha256(Array((headerFields[.contentType] ?? "").utf8) + [0] + bytes)
    }

    private func canonical(_ content: [UInt8]) -> [UInt8] {
        let type = (headerFields[.contentType] ?? "").lowercased()
        if type.hasPrefix("application/x-www-form-urlencoded") {
            let fields = String(decoding: content, as: UTF8.self).split(separator: "&")
            // The fields of one name keep their order.
            let sorted = fields.enumerated().sorted {
                ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
            }
            return Array(sorted.map(\.element).joined(separator: "&").utf8)
        }
        guard type.contains("json"),
            let tree = try? JSONDecoder().decode(JSONValue.self, quicklyFrom: content)
        else { return content }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let sorted = try? encoder.encode(tree) else { return content }
        return Array(sorted)
    }
}

extension Substring {
    fileprivate var name: Substring { prefix { $0 != "=" } }
}

extension URL {
    /// Without fragment, which is not sent.
    var cacheText: String { absoluteString.withoutFragment }
}

extension String {
    fileprivate var withoutFragment: String {
        guard utf8.contains(UInt8(ascii: "#")) else { return self }
        return String(prefix { $0 != "#" })
    }
}
