public import FoundationEssentials

/// Where a page is. Can be saved, to go on there later: ``PagingState/position``, ``PagingOptions/start``.
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
