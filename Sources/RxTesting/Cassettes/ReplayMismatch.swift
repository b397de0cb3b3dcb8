/// The reason why a cassette does not fit the requests or messages, with the nearest exchange.
///
/// ```
/// login.har has no exchange for POST https://shop.test/login
/// nearest is 2 of 5, used before
///   body.user: recorded "ann", sent "bob"
/// ```
public struct ReplayMismatch: Error, Sendable, Equatable, CustomStringConvertible {
    /// The request, as method and URL without secrets; `nil` if exchanges stayed unused. For a message, its handshake.
    public let request: String?
    /// The number of the nearest exchange, from 1, if there is one.
    public let nearest: Int?
    /// The differences to the nearest exchange, one a line; or the exchanges that stayed unused.
    public let differences: [String]
    private let heading: String

    init(_ heading: String, request: String? = nil, nearest: Int? = nil, differences: [String]) {
        self.heading = heading
        self.request = request
        self.nearest = nearest
        self.differences = differences
    }

    /// The request, the nearest exchange, and the differences.
    public var description: String {
        ([heading] + differences.map { "  \($0)" }).joined(separator: "\n")
    }
}
