/// One page of a list, as the server gave it.
public struct Page<Item: Sendable>: Sendable {
    /// The items.
    public var items: [Item]
    /// How many items there are in all, if the server tells.
    public var total: Int?
    /// How many pages there are in all, if the server tells.
    public var totalPages: Int?
    /// The cursor of the next page, if it is in the content; none, or an empty one, at the end.
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
