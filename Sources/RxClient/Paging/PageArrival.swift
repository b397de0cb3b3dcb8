public import RxHTTP

/// A loaded page, as a rule sees it.
public struct PageArrival: Sendable {
    /// The position of the page; `nil` for a first page whose position is the endpoint's.
    public var position: PagePosition?
    /// The number of items in the page.
    public var itemCount: Int
    /// The greatest number of items in a page before this one; 0 for the first page.
    public var largestPage: Int
    /// The number of items up to and including this page; `nil` if the list began in the middle, and the position does
    /// not tell.
    public var itemsSoFar: Int?
    /// The total number of items, if the server sends it.
    public var total: Int?
    /// The total number of pages, if the server sends it.
    public var totalPages: Int?
    /// The cursor of the next page, if the content has one.
    public var nextCursor: String?
    /// The cursor of the previous page, if the content has one.
    public var previousCursor: String?
    /// The response with the page; `nil` for a page that did not come from a response.
    public var response: Response?
}

extension PageArrival: RedactedDescription {
    /// The number of items. Cursors are omitted, because they can contain secrets.
    public var description: String {
        response.map { "page of \(itemCount) items, \($0)" } ?? "page of \(itemCount) items"
    }
}
