public import FoundationEssentials
import RxHTTP

/// How to ask for one page: by its position, with additional parameters, or with another URL.
public struct PagePlacement: Sendable {
    /// Where the page is. Default `nil`: the first page of a rule whose endpoint says where that is.
    public var position: PagePosition?
    /// Parameters to add to the endpoint's own, in the query or in the body.
    public var parameters: Parameters.Values
    /// The URL to go to in place of the endpoint's.
    public var link: URL?

    /// Creates a placement.
    public init(position: PagePosition? = nil, parameters: Parameters.Values = [:], link: URL? = nil) {
        self.position = position
        self.parameters = parameters
        self.link = link
    }
}

extension PagePlacement: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the parameters, and the link without user info and query.
    public var description: String {
        let names = parameters.keys.sorted().joined(separator: ", ")
        return link.map { "\(names) link \($0.absoluteString.withoutSecrets)" } ?? names
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Empty, so that `dump` shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
