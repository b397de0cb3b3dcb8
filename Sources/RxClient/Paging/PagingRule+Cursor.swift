import FoundationEssentials
public import HTTPTypes
import RxHTTP
import RxParameters

extension PagingRule {
    /// Pages by a cursor: each page contains the cursor of the next. `limit=20`, then `cursor=abc&limit=20` …
    ///
    /// The last page has no cursor, an empty cursor, or no items. The first request has no cursor. A repeated
    /// cursor fails with `paging`.
    ///
    /// - Parameters:
    ///   - size: the number of items per page; `nil` sends no size.
    ///   - cursorKey: the name of the cursor in requests. Default `cursor`.
    ///   - sizeKey: the name of the size. Default `limit`.
    ///   - header: the response field with the next cursor. Default `nil`: the content has it, as
    ///     ``Page/nextCursor``.
    public static func cursor(
        size: Int? = nil, cursorKey: String = "cursor", sizeKey: String = "limit",
        inHeader header: HTTPField.Name? = nil
    ) -> PagingRule {
        // An empty cursor stands for none, so that the first request has a size too.
        var rule = PagingRule(first: .cursor("")) { position in
            guard case .cursor(let cursor) = position else { return PagePlacement() }
            var parameters: Parameters.Values = [:]
            if !cursor.isEmpty { parameters[cursorKey] = cursor }
            if let size { parameters[sizeKey] = size }
            return PagePlacement(parameters: parameters)
        } next: { arrival in
            let cursor = header.map { arrival.response?.head[$0] } ?? arrival.nextCursor
            return cursor.flatMap { $0.isEmpty ? nil : .cursor($0) }
        }
        rule.previous = { arrival in
            arrival.previousCursor.flatMap { $0.isEmpty ? nil : .cursor($0) }
        }
        return rule
    }

    /// Pages joined by `Link: <…>; rel="next"` (RFC 8288). The last page has no such link; `rel="prev"` leads
    /// back.
    ///
    /// Links to another origin are followed without credentials: without `Authorization`, `Cookie`,
    /// `Proxy-Authorization`, the fields marked secret and the session's credential. The request keeps its
    /// method, its body and all other header fields. Only GET and HEAD requests are sent to another origin;
    /// with another method such a link fails with `paging`. So does a link that is not an http or https URL.
    public static let link: PagingRule = {
        var rule = PagingRule(first: nil) { position in
            guard case .link(let url) = position else { return PagePlacement() }
            return PagePlacement(link: url)
        } next: { arrival throws(NetworkError) in
            try arrival.link("next")
        }
        rule.previous = { arrival throws(NetworkError) in try arrival.link("prev") }
        return rule
    }()
}

extension PagingRule {
    /// Pages whose content has the URL of the next page, as ``Page/nextCursor``: `next` in Django REST
    /// framework, `next_url` in datasette. The last page has no URL, or an empty one; ``Page/previousCursor``
    /// leads back.
    ///
    /// A relative URL is resolved against the URL of the response (RFC 3986 §5). A URL of another origin is
    /// followed without credentials, as with ``link``. URLs other than http and https fail with `paging`.
    ///
    /// ```swift
    /// client.items(Users(), .nextURL) { Page($0.results, total: $0.count, nextCursor: $0.next) }
    /// ```
    public static let nextURL: PagingRule = {
        var rule = PagingRule.link
        rule.next = { arrival throws(NetworkError) in try arrival.page(at: arrival.nextCursor) }
        rule.previous = { arrival throws(NetworkError) in try arrival.page(at: arrival.previousCursor) }
        return rule
    }()
}

extension PageArrival {
    /// The position of a URL in the content.
    fileprivate func page(at text: String?) throws(NetworkError) -> PagePosition? {
        guard let text, !text.isEmpty else { return nil }
        let url = response.map { URL(reference: text, base: $0.url) } ?? URL(string: text)
        guard let url, Origin(url) != nil else {
            throw NetworkError(
                .paging, "the page's URL \(text.withoutSecrets) is not an http or https URL",
                request: response?.request)
        }
        return .link(url)
    }

    fileprivate func link(_ relation: String) throws(NetworkError) -> PagePosition? {
        guard let response, let header = response.head[.link] else { return nil }
        return try LinkHeader(header).target(of: relation, in: response).map { .link($0) }
    }
}
