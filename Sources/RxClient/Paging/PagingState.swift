public import RxHTTP

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

    /// Whether there are pages after the last one, for a footer that offers to load more: `false` at the end, and before
    /// the first page has arrived.
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
