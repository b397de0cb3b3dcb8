public import RxHTTP

/// One page of a list, as its source returned it.
public struct Page<Item: Sendable>: Sendable {
    /// The items.
    public var items: [Item]
    /// The total number of items, if the server sends it.
    public var total: Int?
    /// The total number of pages, if the server sends it.
    public var totalPages: Int?
    /// The cursor of the next page, if the content has one; `nil` or empty at the end.
    public var nextCursor: String?
    /// The cursor of the previous page, if the content has one; `nil` or empty at the start.
    public var previousCursor: String?
    /// The response with the page, for rules that read its header fields or resolve a URL against its URL
    /// (``PagingRule/link``, ``PagingRule/nextURL``). `nil` for a page that did not come from a response.
    public var response: Response?

    /// Creates a page.
    public init(
        _ items: [Item], total: Int? = nil, totalPages: Int? = nil, nextCursor: String? = nil,
        previousCursor: String? = nil, response: Response? = nil
    ) {
        self.items = items
        self.total = total
        self.totalPages = totalPages
        self.nextCursor = nextCursor
        self.previousCursor = previousCursor
        self.response = response
    }
}

extension Page: CustomStringConvertible, CustomReflectable {
    /// The number of items. Cursors are omitted, because they can contain secrets.
    public var description: String { "page of \(items.count) items" }

    /// Only the items.
    public var customMirror: Mirror { Mirror(self, children: ["items": items]) }
}
