/// What to make of the pages of a list.
public struct PagingOptions<Item: Sendable>: Sendable {
    /// Tells items apart. One that comes again takes the place of the one before. Default: all are kept.
    public var identity: (@Sendable (Item) -> AnyHashable)?
    /// The most pages that are loaded; then the list is at its end. Default no limit.
    public var maxPages: Int?
    /// The most items that are kept; then the list is at its end. Default no limit.
    public var maxItems: Int?

    /// Creates options.
    public init(
        identity: (@Sendable (Item) -> AnyHashable)? = nil, maxPages: Int? = nil, maxItems: Int? = nil
    ) {
        self.identity = identity
        self.maxPages = maxPages
        self.maxItems = maxItems
    }
}
