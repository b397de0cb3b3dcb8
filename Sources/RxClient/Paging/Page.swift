public import FoundationEssentials
public import RxHTTP
public import RxParameters

/// One page of a list, as its source returned it.
public struct Page<Item: Sendable>: Sendable {
    /// The items.
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
    /// (``PagingRule/link``, ``PagingRule/nextURL``). `nil` for a page that did not come from a response.
    public var response: Response?

    /// Creates a page.
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
    /// The number of items. Cursors are omitted, because they can contain secrets.
    public var description: String { "page of \(items.count) items" }

    /// Only the items.
    public var customMirror: Mirror { Mirror(self, children: ["items": items]) }
}

/// The position of a page. Save it to continue there later: ``PagingState/position``,
/// ``PagingOptions/start``.
public enum PagePosition: Hashable, Codable, Sendable {
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

/// How to request one page: by its position, with additional parameters, or at another URL.
public struct PageRequest: Sendable {
    /// The position of the page. Default `nil`: the first page of a rule that leaves its position to the
    /// endpoint.
    public var position: PagePosition?
    /// The parameters to add to the endpoint's, in the query or in the body.
    public var parameters: Parameters.Values
    /// The URL of the page, instead of the endpoint's. Default `nil`: the endpoint's URL.
    public var link: URL?

    /// Creates a request.
    public init(position: PagePosition? = nil, parameters: Parameters.Values = [:], link: URL? = nil) {
        self.position = position
        self.parameters = parameters
        self.link = link
    }
}

extension PageRequest: RedactedDescription {
    /// The names of the parameters, and the link without user info and query.
    public var description: String {
        let names = parameters.keys.sorted().joined(separator: ", ")
        return link.map { "\(names) link \($0.absoluteString.withoutSecrets)" } ?? names
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
    /// The number of items up to and including this page; `nil` if the list began in the middle, and the position does
    /// not tell.
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
