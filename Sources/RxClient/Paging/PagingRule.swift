public import RxHTTP

/// How a server divides a list into pages: the first request, and the positions after and before a page.
///
/// The rules of most servers are available as static members. Another rule is a value of closures:
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
    /// The position of the first page. `nil`: the endpoint's.
    public var first: PagePosition?
    /// The placement of a position: how to request that page.
    public var placement: @Sendable (PagePosition) -> PagePlacement
    /// The position after a page; `nil` after the last. An empty page may have one. Throws `paging` if the server names an invalid
    /// position.
    public var next: @Sendable (PageArrival) throws(NetworkError) -> PagePosition?
    /// The position before a page; `nil` before the first. Default: always `nil`.
    public var previous: @Sendable (PageArrival) throws(NetworkError) -> PagePosition? = { _ in nil }
    /// The position after a page that has not arrived yet, provided that page is full; `nil` if it cannot be
    /// known, and beyond an end that the newest page, the second argument, shows. Default: always `nil`.
    public var expectedNext: @Sendable (PagePosition, PageArrival?) -> PagePosition? = { _, _ in nil }
    /// The statuses that mean that a page after the first is beyond the end, such as 404. Default: empty, so
    /// that all of them are failures.
    public var endStatuses: Set<Int> = []
    /// The number of items before a page, if its position tells, as an offset does. Default: always `nil`.
    public var itemsBefore: @Sendable (PagePosition) -> Int? = { _ in nil }

    /// Creates a rule.
    public init(
        first: PagePosition?, placement: @escaping @Sendable (PagePosition) -> PagePlacement,
        next: @escaping @Sendable (PageArrival) throws(NetworkError) -> PagePosition?
    ) {
        self.first = first
        self.placement = placement
        self.next = next
    }

    /// How to recognize the last page if the server sends no total.
    public enum LastPage: Sendable {
        /// The first page that is shorter than requested and shorter than a page before it: a server that caps the
        /// size of its pages sends the same number each time, less than requested.
        case shorterThanEarlier
        /// The first page that is shorter than requested, even if it is the first. A list that has less than one page
        /// then needs one request instead of two. With a server that caps the size of its pages, the list ends too early.
        case short
        /// The first empty page: for servers that filter pages after dividing the list.
        case empty
    }
}
