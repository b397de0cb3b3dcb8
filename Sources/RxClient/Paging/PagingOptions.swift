/// Options of a list of pages.
public struct PagingOptions<Item: Sendable>: Sendable {
    /// Tells items apart. One that comes again takes the place of the one before. Default: all are kept.
    public var identity: (@Sendable (Item) -> AnyHashable)?
    /// The most pages that are loaded; then the list is at its end, in both directions. Default no limit.
    public var maxPages: Int?
    /// The most items of the list; at that number it ends in both directions. Those that a ``window`` has dropped
    /// count. Default no limit.
    public var maxItems: Int?
    /// The most pages that are held at a time: a page loaded at one end drops the one at the other, which can be loaded
    /// again by going back. Default no limit.
    public var window: Int?
    /// How near to the end the item of ``PagingCommand/visible(_:)`` lets more be loaded, in items. Default 5.
    public var prefetchDistance = 5
    /// The number of pages that `items` fetches ahead, in parallel, if the rule knows their positions (by number, by
    /// offset). The order is kept. Default 0.
    public var ahead = 0
    /// Where to begin, such as a saved ``PagingState/position``. Default `nil`: at the rule's first page, where a
    /// reload begins in any case.
    public var start: PagePosition?

    /// Creates options.
    public init(
        identity: (@Sendable (Item) -> AnyHashable)? = nil, maxPages: Int? = nil, maxItems: Int? = nil,
        window: Int? = nil, prefetchDistance: Int = 5, ahead: Int = 0, start: PagePosition? = nil
    ) {
        self.identity = identity
        self.maxPages = maxPages
        self.maxItems = maxItems
        self.window = window
        self.prefetchDistance = prefetchDistance
        self.ahead = ahead
        self.start = start
    }
}
