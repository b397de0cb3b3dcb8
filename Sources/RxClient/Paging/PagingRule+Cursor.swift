public import HTTPTypes
import RxHTTP

extension PagingRule {
    /// Pages by a cursor that each page names for the next: `limit=20`, then `cursor=abc&limit=20` …
    ///
    /// The last page names none, or an empty one, or is empty. The first is asked for without a cursor. A cursor that
    /// has been there before fails with `paging`.
    ///
    /// - Parameters:
    ///   - size: items a page; `nil` sends no size.
    ///   - cursorKey: the name of the cursor in requests. Default `cursor`.
    ///   - sizeKey: the name of the size. Default `limit`.
    ///   - header: the field of the answer that has the next cursor. Default `nil`: the content has it, as
    ///     ``Page/nextCursor``.
    public static func cursor(
        size: Int? = nil, cursorKey: String = "cursor", sizeKey: String = "limit",
        inHeader header: HTTPField.Name? = nil
    ) -> PagingRule {
        // An empty cursor stands for none, so that the first page has a size too.
        var rule = PagingRule(first: .cursor("")) { position in
            guard case .cursor(let cursor) = position else { return PagePlacement() }
            var parameters: Parameters.Values = [:]
            if !cursor.isEmpty { parameters[cursorKey] = cursor }
            if let size { parameters[sizeKey] = size }
            return PagePlacement(parameters: parameters)
        } next: { arrival in
            let cursor = header.map { arrival.response.head[$0] } ?? arrival.nextCursor
            return cursor.flatMap { $0.isEmpty ? nil : .cursor($0) }
        }
        rule.previous = { arrival in
            arrival.previousCursor.flatMap { $0.isEmpty ? nil : .cursor($0) }
        }
        return rule
    }

    /// Pages joined by `Link: <…>; rel="next"` (RFC 8288). The last has no such link; `rel="prev"` leads back.
    ///
    /// A link to another origin is followed without credentials: without `Authorization`, `Cookie`,
    /// `Proxy-Authorization`, the fields marked secret and the session's credential. The request's method, its
    /// body and all its other header fields go along. Only GET and HEAD are sent there; with another method
    /// such a link fails with `paging`, as does one to what is no http or https URL.
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

extension PageArrival {
    fileprivate func link(_ relation: String) throws(NetworkError) -> PagePosition? {
        guard let header = response.head[.link] else { return nil }
        return try LinkHeader(header).target(of: relation, in: response).map { .link($0) }
    }
}
