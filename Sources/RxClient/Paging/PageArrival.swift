public import RxHTTP

/// What a rule knows when a page has come.
public struct PageArrival: Sendable {
    /// Where the page is; `nil` for the first, where that is as the endpoint says.
    public var position: PagePosition?
    /// How many items it has.
    public var itemCount: Int
    /// The most items that a page before this one had; 0 for the first.
    public var largestPage: Int
    /// How many items the list has up to and with this page.
    public var itemsSoFar: Int
    /// How many items there are in all, if the server tells.
    public var total: Int?
    /// How many pages there are in all, if the server tells.
    public var totalPages: Int?
    /// The cursor of the page after this one, if the content told one.
    public var nextCursor: String?
    /// The cursor of the page before this one, if the content told one.
    public var previousCursor: String?
    /// The answer that brought it.
    public var response: Response
}
