public import RxHTTP

/// How a server divides a list into pages: the first request, and the positions after and before a page.
///
/// The rules of most servers are here. Another is a value of closures:
///
/// ```swift
/// let byDay = PagingRule(first: .cursor("today")) { position in
///     guard case .cursor(let day) = position else { return PagePlacement() }
///     return PagePlacement(parameters: ["day": day])
/// } next: { arrival in
///     arrival.response?.head[.dayBefore].map { .cursor($0) }
/// }
/// ```
public struct PagingRule: Sendable {
    /// Where the first page is. `nil`: as the endpoint says.
    public var first: PagePosition?
    /// How to ask for a page.
    public var placement: @Sendable (PagePosition) -> PagePlacement
    /// Where the page after one is; `nil` after the last. Throws `paging` if the server says what cannot be.
    public var next: @Sendable (PageArrival) throws(NetworkError) -> PagePosition?
    /// Where the page before one is; `nil` before the first. Default: nowhere.
    public var previous: @Sendable (PageArrival) throws(NetworkError) -> PagePosition? = { _ in nil }
    /// The position after a page that has not arrived yet, if that page will be full; `nil` if it cannot be known, and
    /// beyond an end that the newest page, the second argument, shows. Default: nobody can tell.
    public var expectedNext: @Sendable (PagePosition, PageArrival?) -> PagePosition? = { _, _ in nil }
    /// Statuses that say of a page after the first that it is beyond the end, such as 404. Default none: they are
    /// failures.
    public var endStatuses: Set<Int> = []
    /// How many items come before a page, where that is known. Default 0.
    public var itemsBefore: @Sendable (PagePosition) -> Int = { _ in 0 }

    /// Creates a rule.
    public init(
        first: PagePosition?, placement: @escaping @Sendable (PagePosition) -> PagePlacement,
        next: @escaping @Sendable (PageArrival) throws(NetworkError) -> PagePosition?
    ) {
        self.first = first
        self.placement = placement
        self.next = next
    }

    /// How the last page is recognized if the server sends no total.
    public enum LastPage: Sendable {
        /// The first after the first page that is shorter than was asked for, and shorter than one before it: servers
        /// that give fewer items a page than were asked for give as many each time.
        case short
        /// The first that is empty: for servers that filter pages after they have cut them.
        case empty
    }
}
