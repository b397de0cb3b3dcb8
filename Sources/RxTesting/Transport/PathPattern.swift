import FoundationEssentials
import RxHTTP

/// The path of a rule: a text, with `{name}` for a part of a segment and `*` at its end for any rest.
struct PathPattern: Sendable {
    let text: String
    private let withOrigin: Bool
    private let isOpen: Bool
    /// The pieces of each segment between its parameters; `nil` for a path without parameters.
    private let segments: [[Substring]]?

    init(_ text: String) {
        self.text = text
        withOrigin = text.hasPrefix("http")
        isOpen = text.hasSuffix("*")
        let fixed = isOpen ? text.dropLast() : text[...]
        segments = fixed.contains("{") ? fixed.segments.map(Self.pieces) : nil
    }

    func matches(_ url: URL) -> Bool {
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
    var rank: [Int] { text[...].segments.map { $0.contains("{") ? 1 : 0 } }

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
