/// The options of a paged list.
public struct PagingOptions<Item: Sendable>: Sendable {
    /// The identity of an item. A repeated item replaces the earlier one. Default `nil`: all items are kept.
    public var identity: (@Sendable (Item) -> AnyHashable)?
    /// The maximum number of loaded pages, without empty ones; then the list is at its end, in both directions.
    /// Default: no limit.
    public var maxPages: Int?
    /// The maximum number of items; then the list is at its end, in both directions. Items that a ``window``
    /// has dropped count. Default: no limit.
    public var maxItems: Int?
    /// The maximum number of pages held at a time: loading a page at one end drops the page at the other end,
    /// which can be loaded again by going back. Only for lists with a state; `items` holds no pages. Default: no limit.
    public var window: Int?
    /// The maximum number of consecutive empty pages that name a next one, as those of databases that filter after
    /// paging do; then the list fails with `paging`. Default 100.
    public var maxEmptyPages = 100
    /// The distance from an end, in items, at which ``PagingCommand/visible(_:)`` loads more. Default 5.
    public var prefetchDistance = 5
    /// The number of pages that `items` loads ahead, in parallel, if the rule knows their positions (by
    /// number, by offset). The order is preserved. Default 0.
    public var ahead = 0
    /// The start position, such as a saved ``PagingState/position``. Default `nil`: the rule's first page,
    /// where a reload always begins.
    public var start: PagePosition?

    /// Creates options.
    public init(
        identity: (@Sendable (Item) -> AnyHashable)? = nil, maxPages: Int? = nil, maxItems: Int? = nil,
        window: Int? = nil, maxEmptyPages: Int = 100, prefetchDistance: Int = 5, ahead: Int = 0,
        start: PagePosition? = nil
    ) {
        self.identity = identity
        self.maxPages = maxPages
        self.maxItems = maxItems
        self.window = window
        self.maxEmptyPages = maxEmptyPages
        self.prefetchDistance = prefetchDistance
        self.ahead = ahead
        self.start = start
    }
}
