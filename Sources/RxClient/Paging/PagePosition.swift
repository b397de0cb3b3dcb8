public import FoundationEssentials
public import RxHTTP

/// The position of a page. Save it to continue there later: ``PagingState/position``,
/// ``PagingOptions/start``.
public enum PagePosition: Hashable, Codable, Sendable {
    /// The page with this number.
    case number(Int)
    /// The page with this number, which begins after that number of items.
    case page(Int, start: Int)
    /// The page that begins after this number of items.
    case offset(Int)
    /// The page with this cursor of the server.
    case cursor(String)
    /// The page at this URL.
    case link(URL)
}

extension PagePosition: RedactedDescription {
    /// The position; a link without user info and query, a cursor without its text.
    public var description: String {
        switch self {
        case .number(let number): "page \(number)"
        case .page(let number, let start): "page \(number) from \(start)"
        case .offset(let offset): "offset \(offset)"
        case .cursor: "cursor"
        case .link(let url): "link \(url.absoluteString.withoutSecrets)"
        }
    }
}
