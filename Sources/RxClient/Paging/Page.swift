public import RxHTTP

/// One page of a list, as its source gave it.
public struct Page<Item: Sendable>: Sendable {
    /// The items.
    public var items: [Item]
    /// The total number of items, if the server sends it.
    public var total: Int?
    /// The total number of pages, if the server sends it.
    public var totalPages: Int?
    /// The cursor of the next page, if it is in the content; `nil` or empty at the end.
    public var nextCursor: String?
    /// The cursor of the page before, likewise.
    public var previousCursor: String?
    /// The response with the page, for rules that read its header fields or resolve a URL against its own
    /// (``PagingRule/link``, ``PagingRule/nextURL``). `nil` for a page that no response brought.
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
    /// How many items it has; cursors can hold what is secret.
    public var description: String { "page of \(items.count) items" }

    /// The items, and nothing else.
    public var customMirror: Mirror { Mirror(self, children: ["items": items]) }
}
