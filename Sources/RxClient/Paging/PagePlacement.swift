public import FoundationEssentials
public import RxHTTP
public import RxParameters

/// How to request one page: by its position, with additional parameters, or at another URL.
public struct PagePlacement: Sendable {
    /// The position of the page. Default `nil`: the first page of a rule that leaves its position to the
    /// endpoint.
    public var position: PagePosition?
    /// The parameters to add to the endpoint's, in the query or in the body.
    public var parameters: Parameters.Values
    /// The URL of the page, instead of the endpoint's. Default `nil`: the endpoint's URL.
    public var link: URL?

    /// Creates a placement.
    public init(position: PagePosition? = nil, parameters: Parameters.Values = [:], link: URL? = nil) {
        self.position = position
        self.parameters = parameters
        self.link = link
    }
}

extension PagePlacement: RedactedDescription {
    /// The names of the parameters, and the link without user info and query.
    public var description: String {
        let names = parameters.keys.sorted().joined(separator: ", ")
        return link.map { "\(names) link \($0.absoluteString.withoutSecrets)" } ?? names
    }
}
