package import FoundationEssentials
public import HTTPTypes
public import RxHTTP
import RxJSON

extension ScriptedTransport {
    /// A rule that selects requests and their responses.
    public struct Rule: Sendable {
        let method: HTTPRequest.Method?
        package let path: PathPattern
        let query: [String: String]
        let content: Content?
        let condition: (@Sendable (Request) -> Bool)?
        let replies: [Reply]
        /// Whether a test that requires rules requires this one.
        package var isRequired = true

        /// Responds to requests of `method` to `path`: to the first with the first of `replies`, and so on;
        /// the last reply repeats. Without `replies` it never responds.
        ///
        /// ```swift
        /// .when(.get, "/goods", query: ["page": "2"], .json("[3, 4]")),
        /// .when(.post, "/login", body: .json(#"{"user": "ann"}"#), .json(#"{"token": "t"}"#)),
        /// .when(.get, "/cart", if: { $0.headerFields[.authorization] == nil }, .status(.unauthorized)),
        /// ```
        ///
        /// - Parameters:
        ///   - method: the method; `nil` matches all.
        ///   - path: the path of the URL without query, including a trailing slash; or, if it begins with
        ///     `http`, scheme, host, port and path. `{name}` matches one or more characters of a segment, such as
        ///     the number in `/goods/{id}`, and a `*` at its end any text that follows.
        ///   - query: parameters that the query must contain, decoded; it may contain others. Default none.
        ///   - content: the content of the request. Default any.
        ///   - condition: a further condition. Default none.
        ///   - replies: the replies, in order. Without any, requests wait for ever.
        public static func when(
            _ method: HTTPRequest.Method?, _ path: String, query: [String: String] = [:],
            body content: Content? = nil, if condition: (@Sendable (Request) -> Bool)? = nil,
            _ replies: Reply...
        ) -> Rule {
            Rule(
                method: method, path: PathPattern(path), query: query, content: content, condition: condition,
                replies: replies.isEmpty ? [.stall] : replies)
        }

        func matches(_ request: Request) -> Bool {
            if let method, method != request.method { return false }
            guard path.matches(request.url) else { return false }
            if !query.isEmpty {
                let pairs = request.urlText.queryPairs
                guard query.allSatisfy({ name, value in pairs.contains { $0 == (name, value) } }) else {
                    return false
                }
            }
            return content.map { $0.matches(request) } ?? true && condition.map { $0(request) } ?? true
        }

        /// The method, the path and the conditions, for messages.
        var text: String {
            let pairs = query.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return "\(method?.rawValue ?? "any method") \(path.text)"
                + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
                + (content.map { " with \($0.text)" } ?? "")
                + (condition == nil ? "" : " if a condition holds")
        }
    }
}

extension ScriptedTransport.Rule {
    /// A condition on the content of a request. Content that is streamed never fulfils one.
    public enum Content: Sendable {
        /// A JSON text with the same members in any order, and the same elements.
        case json(String)
        /// A form with these fields, in any order, and no others.
        case form([String: String])
        /// A text equal to this one.
        case text(String)
        /// A text that contains this one.
        case containing(String)

        func matches(_ request: Request) -> Bool {
            let body: [UInt8]
            switch request.body {
            case .empty: body = []
            case .bytes(let bytes): body = bytes
            case .streamed: return false
            }
            switch self {
            case .json(let text):
                let expected = Array(text.utf8)
                guard let one = try? JSONPart(wholeOf: expected), let other = try? JSONPart(wholeOf: body)
                else {
                    return false
                }
                return one.canonical(in: expected) == other.canonical(in: body)
            case .form(let fields):
                let pairs = "?\(String(decoding: body, as: UTF8.self))".queryPairs
                return pairs.count == fields.count && pairs.allSatisfy { fields[$0.0] == $0.1 }
            case .text(let text): return body.elementsEqual(text.utf8)
            case .containing(let text): return String(decoding: body, as: UTF8.self).contains(text)
            }
        }

        var text: String {
            switch self {
            case .json(let text): "the JSON \(text)"
            case .form(let fields): "the form \(fields.keys.sorted().joined(separator: ", "))"
            case .text(let text): "the text \(text.debugDescription)"
            case .containing(let text): "a text that contains \(text.debugDescription)"
            }
        }
    }
}

extension String {
    /// The pairs of the query, decoded.
    fileprivate var queryPairs: [(String, String)] {
        prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst().split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (parts[0].decodedAsForm, parts.count > 1 ? parts[1].decodedAsForm : "")
        }
    }
}

/// The path of a rule: a text, with `{name}` for a part of a segment and `*` at its end for any rest.
package struct PathPattern: Sendable {
    let text: String
    private let withOrigin: Bool
    private let isOpen: Bool
    /// The pieces of each segment between its parameters; `nil` for a path without parameters.
    private let segments: [[Substring]]?

    package init(_ text: String) {
        self.text = text
        withOrigin = text.hasPrefix("http")
        isOpen = text.hasSuffix("*")
        let fixed = isOpen ? text.dropLast() : text[...]
        segments = fixed.contains("{") ? fixed.segments.map(Self.pieces) : nil
    }

    package func matches(_ url: URL) -> Bool {
        guard let segments else {
            let target = withOrigin ? url.originAndPath : url.path(percentEncoded: false)
            return isOpen ? target.hasPrefix(text.dropLast()) : target == text
        }
        // An escaped slash belongs to its segment.
        let path = (withOrigin ? url.originText : "") + url.path(percentEncoded: true)
        var parts = path[...].segments
        guard parts.count == segments.count || isOpen && parts.count > segments.count else { return false }
        if parts.count > segments.count {
            let rest = parts[(segments.count - 1)...].joined(separator: "/")
            parts.replaceSubrange((segments.count - 1)..., with: [rest[...]])
        }
        return zip(segments, parts).enumerated().allSatisfy { index, pair in
            Self.fits(pair.1.unescaped, pair.0, isOpen: isOpen && index == segments.count - 1)
        }
    }

    /// The order of specific paths before others: segment by segment, a text comes before a parameter.
    package var rank: [Int] { text[...].segments.map { $0.contains("{") ? 1 : 0 } }

    /// The texts around the parameters of a segment: `report-{id}.{type}` has `report-`, `.` and the empty text.
    private static func pieces(_ segment: Substring) -> [Substring] {
        var pieces: [Substring] = []
        var rest = segment
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            pieces.append(rest[..<open])
            rest = rest[rest.index(after: close)...]
        }
        return pieces + [rest]
    }

    /// Whether the segment has these pieces in order, with at least one character for each parameter between them.
    private static func fits(_ segment: String, _ pieces: [Substring], isOpen: Bool) -> Bool {
        guard let first = pieces.first, let last = pieces.last, segment.hasPrefix(first) else { return false }
        guard pieces.count > 1 else { return isOpen || segment.count == first.count }
        var rest = segment.dropFirst(first.count)
        for piece in isOpen ? pieces.dropFirst() : pieces.dropFirst().dropLast() {
            guard let found = rest.dropFirst().firstRange(of: piece) else { return false }
            rest = rest[found.upperBound...]
        }
        return isOpen || rest.count > last.count && rest.hasSuffix(last)
    }
}

extension Substring {
    fileprivate var segments: [Substring] { split(separator: "/", omittingEmptySubsequences: false) }

    fileprivate var unescaped: String { replacing("+", with: "%2B").decodedAsForm }
}

extension URL {
    /// Scheme, host, port and path, without escapes.
    var originAndPath: String { originText + path(percentEncoded: false) }

    fileprivate var originText: String { "\(scheme ?? "")://\(host() ?? "")" + (port.map { ":\($0)" } ?? "") }
}
