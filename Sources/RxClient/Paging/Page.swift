public import FoundationEssentials
public import RxHTTP
import RxParameters

/// One page of a list.
public struct Page<Item: Sendable>: Sendable {
    /// The items; from `Client.eachPage` without those that a limit or ``PagingOptions/identity`` excludes.
    public var items: [Item]
    /// The total number of items, if the server sends it.
    public var total: Int?
    /// The total number of pages, if the server sends it.
    public var totalPages: Int?
    /// The cursor of the next page, if the content has one; `nil` or empty at the end.
    public var nextCursor: String?
    /// The cursor of the previous page, if the content has one; `nil` or empty at the start.
    public var previousCursor: String?
    /// The response with the page, for rules that read its header fields or resolve a URL against its URL
    /// (``PagingRule/link``, ``PagingRule/nextURL``). `nil` for a page that did not come from a response. With its
    /// body: set it to `nil` in pages that you keep.
    public var response: Response?
    /// The position of the page in a list that is read page by page (`Client.eachPage`); `nil` for a first page that
    /// the endpoint's own URL and parameters ask for. Pass it as the start to load the page again.
    public internal(set) var position: PagePosition?
    /// The position of the next page in such a list: save it once the items are processed, and continue there
    /// later. `nil` for the last page.
    public internal(set) var next: PagePosition?

    /// Creates a page, as its source returns it.
    public init(
        _ items: [Item], total: Int? = nil, totalPages: Int? = nil, nextCursor: String? = nil,
        previousCursor: String? = nil, response: Response? = nil
    ) {
        self.items = items
        self.total = total
        self.totalPages = totalPages
        self.nextCursor = nextCursor
        self.previousCursor = previousCursor
        self.response = response
    }
}

extension Page: CustomStringConvertible, CustomReflectable {
    /// The number of items, and the position without secrets. Cursors are omitted, because they can contain secrets.
    public var description: String {
        "page of \(items.count) items" + (position.map { " at \($0)" } ?? "")
    }

    /// Only the items.
    public var customMirror: Mirror { Mirror(self, children: ["items": items]) }
}

/// The position of a page. Save it to continue there later: ``PagingState/position``,
/// ``PagingOptions/start``.
public enum PagePosition: Hashable, Codable, Sendable {
    // Apps save positions: the names of the cases and of their labels are the stored form.

    /// The page with this number.
    case number(Int)
    /// The page with this number, which begins after that number of items.
    case page(Int, start: Int)
    /// The page that begins after this number of items.
    case offset(Int)
    /// The page with this cursor of the server.
    case cursor(String)
    /// The page at this URL.
    case link(URL)
}

extension PagePosition: RedactedDescription {
    /// The position; a link without user info and query, a cursor without its text.
    public var description: String {
        switch self {
        case .number(let number): "page \(number)"
        case .page(let number, let start): "page \(number) from \(start)"
        case .offset(let offset): "offset \(offset)"
        case .cursor: "cursor"
        case .link(let url): "link \(url.absoluteString.withoutSecrets)"
        }
    }
}

/// The request for one page of an endpoint.
struct PageRequest: Sendable {
    /// The parameters to add to the endpoint's, in the query or in the body.
    let parameters: Parameters.Values
    /// The URL of the page; `nil` for the endpoint's.
    let link: URL?

    init(_ page: (position: PagePosition?, parameters: Parameters.Values)) {
        parameters = page.parameters
        link = if case .link(let url) = page.position { url } else { nil }
    }
}

/// A loaded page, as a rule sees it.
public struct PageInfo: Sendable {
    /// The position of the page; `nil` for a first page whose position is the endpoint's.
    public var position: PagePosition?
    /// The number of items in the page.
    public var itemCount: Int
    /// The greatest number of items in a page before this one; 0 for the first page.
    public var largestPage: Int
    /// For ``PagingRule/next``: the number of items up to and including this page; `nil` if the list began in the
    /// middle.
    public var itemsSoFar: Int?
    /// The total number of items, if the server sends it.
    public var total: Int?
    /// The total number of pages, if the server sends it.
    public var totalPages: Int?
    /// The cursor of the next page, if the content has one.
    public var nextCursor: String?
    /// The cursor of the previous page, if the content has one.
    public var previousCursor: String?
    /// The response with the page; `nil` for a page that did not come from a response.
    public var response: Response?
}

extension PageInfo: RedactedDescription {
    /// The number of items. Cursors are omitted, because they can contain secrets.
    public var description: String {
        response.map { "page of \(itemCount) items, \($0)" } ?? "page of \(itemCount) items"
    }
}
