/// One page of a list, as the server gave it.
public struct Page<Item: Sendable>: Sendable {
    /// The items.
    public var items: [Item]
    /// How many items there are in all, if the server tells.
    public var total: Int?
    /// How many pages there are in all, if the server tells.
    public var totalPages: Int?

    /// Creates a page.
    public init(_ items: [Item], total: Int? = nil, totalPages: Int? = nil) {
        self.items = items
        self.total = total
        self.totalPages = totalPages
    }
}
