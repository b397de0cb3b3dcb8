public import RxHTTP

/// A list that is loaded page by page, as a view renders it.
public struct PagingState<Item: Sendable>: Sendable {
    /// What the list is doing.
    public enum Phase: Sendable {
        /// Nothing; there is more to load.
        case idle
        /// Loading the first page. After a reload the old items stay until the first page has arrived.
        case loadingFirst
        /// Loading a further page.
        case loadingMore
        /// Loading the page before the first one in the list.
        case loadingPrevious
        /// The last load failed. The items are still in the list; `next` tries the same page again. After `paging`,
        /// when the server names no valid next page, only a reload continues.
        case failed(NetworkError)
        /// Everything has been loaded.
        case end
    }

    /// All items so far.
    public var items: [Item] = []
    /// How many pages have come.
    public var page = 0
    /// What the list is doing.
    public var phase = Phase.loadingFirst
    /// The total number of items, if the server sends it.
    public var total: Int?
    /// Where the next page is: save it to continue there with ``PagingOptions/start``. `nil` at the end, and before the
    /// first page has come.
    public var position: PagePosition?
    /// Whether there is a page before the first of `items`, for ``PagingCommand/previous``.
    public var hasPrevious = false

    /// Creates the state of a list before anything has come.
    public init() {}
}

extension PagingState.Phase {
    /// Whether a load is under way.
    public var isLoading: Bool {
        switch self {
        case .loadingFirst, .loadingMore, .loadingPrevious: true
        case .idle, .failed, .end: false
        }
    }

    /// Why the last load failed, if it did.
    public var error: NetworkError? {
        if case .failed(let error) = self { error } else { nil }
    }
}

extension PagingState: Equatable where Item: Equatable {}

extension PagingState.Phase: Equatable {
    /// Failures are equal when their codes and messages are.
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
