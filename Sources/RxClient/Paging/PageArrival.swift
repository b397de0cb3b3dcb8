public import RxHTTP

/// A page that has arrived, as a rule sees it.
public struct PageArrival: Sendable {
    /// Where the page is; `nil` for the first, where that is as the endpoint says.
    public var position: PagePosition?
    /// How many items it has.
    public var itemCount: Int
    /// The most items that a page before this one had; 0 for the first.
    public var largestPage: Int
    /// How many items the list has up to and with this page.
    public var itemsSoFar: Int
    /// The total number of items, if the server sends it.
    public var total: Int?
    /// The total number of pages, if the server sends it.
    public var totalPages: Int?
    /// The cursor of the next page, if the content has one.
    public var nextCursor: String?
    /// The cursor of the previous page, if the content has one.
    public var previousCursor: String?
    /// The response with the page; `nil` for a page that no response brought.
    public var response: Response?
}

extension PageArrival: CustomStringConvertible, CustomReflectable {
    /// How many items it has; cursors can hold what is secret.
    public var description: String {
        response.map { "page of \(itemCount) items, \($0)" } ?? "page of \(itemCount) items"
    }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
