import FoundationEssentials
import RxHTTP

/// How a server divides a list into pages: what to ask for first, and what comes after a page.
public struct PagingRule: Sendable {
    /// Where a page is.
    enum Position: Sendable, Equatable {
        case number(Int)
        case link(URL)
    }

    /// What is known when a page has come.
    struct Arrival: Sendable {
        var position: Position
        var itemCount: Int
        var itemsSoFar: Int
        var total: Int?
        var totalPages: Int?
        var response: Response
    }

    /// `nil`: as the endpoint says.
    let first: Position?
    let placement: @Sendable (Position) -> PagePlacement
    /// `nil`: the page was the last. Throws `paging` if the server says something else that cannot be.
    let next: @Sendable (Arrival) throws(NetworkError) -> Position?

    /// Pages by number: `page=1&pageSize=20`, `page=2&pageSize=20` …
    ///
    /// The last page is the one that brings the total, by items or by pages, where the server tells it; else
    /// the first that is shorter than `size`. The parameters travel with the endpoint's own, in the query or
    /// in the body.
    ///
    /// - Parameters:
    ///   - size: items a page.
    ///   - first: the number of the first page. Default 1.
    ///   - pageKey: the name of the page number. Default `page`.
    ///   - sizeKey: the name of the size. Default `pageSize`.
    ///   - startKey: the name under which the number of items before the page is sent, if at all.
    public static func numbered(
        size: Int, from first: Int = 1, pageKey: String = "page", sizeKey: String = "pageSize",
        startKey: String? = nil
    ) -> PagingRule {
        PagingRule(first: .number(first)) { position in
            guard case .number(let number) = position else { return PagePlacement() }
            var parameters: Parameters.Values = [pageKey: number, sizeKey: size]
            if let startKey { parameters[startKey] = size * (number - first) }
            return PagePlacement(parameters: parameters)
        } next: { arrival in
            guard case .number(let number) = arrival.position else { return nil }
            let hasMore =
                if let totalPages = arrival.totalPages {
                    number - first + 1 < totalPages
                } else if let total = arrival.total { arrival.itemsSoFar < total } else {
                    arrival.itemCount >= size
                }
            return hasMore ? .number(number + 1) : nil
        }
    }

    /// Pages joined by `Link: <…>; rel="next"` (RFC 8288). The last has no such link.
    ///
    /// A link to another origin is followed without credentials: without `Authorization`, `Cookie`,
    /// `Proxy-Authorization`, the fields marked secret, the session's credential and the jar's cookies. The request's method, its
    /// body and all its other header fields go along. Only GET and HEAD are sent there; with another method
    /// such a link fails with `paging`, as does one to what is no http or https URL.
    public static let link = PagingRule(first: nil) { position in
        guard case .link(let url) = position else { return PagePlacement() }
        return PagePlacement(link: url)
    } next: { arrival throws(NetworkError) in
        guard let header = arrival.response.head[.link] else { return nil }
        return try LinkHeader(header).target(of: "next", in: arrival.response).map { .link($0) }
    }
}

/// How a request asks for one page: with parameters of its own, or with another URL.
struct PagePlacement: Sendable {
    var parameters: Parameters.Values = [:]
    var link: URL?
}
