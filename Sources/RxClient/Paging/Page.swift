/// One page of a list, as the server gave it.
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

    /// Creates a page.
    public init(
        _ items: [Item], total: Int? = nil, totalPages: Int? = nil, nextCursor: String? = nil,
        previousCursor: String? = nil
    ) {
        self.items = items
        self.total = total
        self.totalPages = totalPages
        self.nextCursor = nextCursor
        self.previousCursor = previousCursor
    }
}

extension Page: CustomStringConvertible, CustomReflectable {
    /// How many items it has; cursors can hold what is secret.
    public var description: String { "page of \(items.count) items" }

    /// The items, and nothing else.
    public var customMirror: Mirror { Mirror(self, children: ["items": items]) }
}
