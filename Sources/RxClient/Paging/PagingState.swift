public import RxHTTP
package import RxLite

/// A list that is loaded page by page, as a view renders it.
public struct PagingState<Item: Sendable>: Sendable {
    /// The activity of the list.
    public enum Phase: Sendable {
        /// Idle; there is more to load.
        case idle
        /// Loading the first page. After a reload the old items stay until the first page has arrived.
        case loadingFirst
        /// Loading another page.
        case loadingMore
        /// Loading the page before the first one in the list.
        case loadingPrevious
        /// The last load failed. The items are still in the list; `next` tries the same page again. After
        /// `paging`, when the server names no valid next page, only a reload continues.
        case failed(NetworkError)
        /// Everything has been loaded.
        case end
    }

    /// All items so far.
    public var items: [Item] = []
    /// The number of loaded pages.
    public var page = 0
    /// The current activity of the list.
    public var phase = Phase.loadingFirst
    /// The total number of items, if the server sends it.
    public var total: Int?
    /// The position of the next page: save it to continue there with ``PagingOptions/start``. `nil` at the
    /// end, and before the first page has arrived.
    public var position: PagePosition?
    /// Whether there is a page before the first of `items`, for ``PagingCommand/previous``.
    public var hasPrevious = false

    /// Whether there are pages after the last one, for a footer that offers to load more: `false` at the end, and
    /// before the first page has arrived.
    public var hasMore: Bool { position != nil }

    /// Creates the state of a list before its first page.
    public init() {}
}

extension PagingState.Phase {
    /// Whether a page is being loaded.
    public var isLoading: Bool {
        switch self {
        case .loadingFirst, .loadingMore, .loadingPrevious: true
        case .idle, .failed, .end: false
        }
    }

    /// The failure of the last load, if it failed.
    public var error: NetworkError? {
        if case .failed(let error) = self { error } else { nil }
    }
}

extension PagingState: Equatable where Item: Equatable {}

extension PagingState.Phase: Equatable {
    /// Failures are equal if their codes and messages are equal.
    public static func == (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.idle, .idle), (.loadingFirst, .loadingFirst), (.loadingMore, .loadingMore),
            (.loadingPrevious, .loadingPrevious), (.end, .end):
            true
        case (.failed(let one), .failed(let other)): one.code == other.code && one.message == other.message
        default: false
        }
    }
}

/// A command to a list of pages.
public enum PagingCommand: Sendable, Hashable {
    /// Loads the next page, or retries the one that failed.
    case next
    /// Loads the page before the first one in the list.
    case previous
    /// Starts over with the first page, regardless of the list's start.
    case reload
    /// The item at this index is visible: loads the next or the previous page if that end of the list is at
    /// most ``PagingOptions/prefetchDistance`` items away.
    case visible(Int)
}

/// The options of a paged list.
public struct PagingOptions<Item: Sendable>: Sendable {
    /// The identity of an item. A repeated item replaces the earlier one. Default `nil`: all items are kept.
    public var identity: (@Sendable (Item) -> AnyHashable)?
    /// The maximum number of loaded pages, without empty ones; at that number the list ends, in both directions.
    /// Default: no limit.
    public var maxPages: Int?
    /// The maximum number of items; at that number the list ends, in both directions. Items that a ``window`` has
    /// dropped count. Default: no limit.
    public var maxItems: Int?
    /// The maximum number of pages held at a time: loading a page at one end drops the page at the other end,
    /// which can be loaded again by going back. Only for lists with a state; `items` holds no pages. Default: no limit.
    public var window: Int?
    /// The number of consecutive empty pages that name a next one, as databases send that filter after paging, with
    /// which the list fails with `paging`. Default 100.
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

extension PagingState: InspectedValue {
    /// One line without the items, for the inspector of streams.
    package var inspectedText: String {
        "page \(page), \(items.count)\(total.map { " of \($0)" } ?? "") items, \(phase.inspectedName)"
    }

    /// The numbers of pages and items, and the phase.
    package var inspectedPages: ShownPages? {
        ShownPages(page: page, items: items.count, total: total, phase: phase.inspectedName)
    }
}

extension PagingState.Phase {
    /// The phase in the inspector, whose page (`cards.js`) looks for `loading` and `failed` at the beginning, and for
    /// `end`.
    fileprivate var inspectedName: String {
        switch self {
        case .idle: "idle"
        case .loadingFirst: "loading the first page"
        case .loadingMore: "loading more"
        case .loadingPrevious: "loading the previous page"
        case .failed(let error): "failed: \(error.code.rawValue)"
        case .end: "end"
        }
    }
}
