public import FoundationEssentials
import RxHTTP

/// Where a page is. Can be saved, to continue there later: ``PagingState/position``, ``PagingOptions/start``.
public enum PagePosition: Hashable, Codable, Sendable {
    /// The page of that number.
    case number(Int)
    /// The page that begins after so many items.
    case offset(Int)
    /// The page that the server named so.
    case cursor(String)
    /// The page at this URL.
    case link(URL)
}

extension PagePosition: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The place; of a link without user info and query, of a cursor nothing.
    public var description: String {
        switch self {
        case .number(let number): "page \(number)"
        case .offset(let offset): "offset \(offset)"
        case .cursor: "cursor"
        case .link(let url): "link \(url.absoluteString.withoutSecrets)"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
