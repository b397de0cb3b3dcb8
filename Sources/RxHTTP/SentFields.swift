package import HTTPTypes
import Synchronization

/// The header fields that one exchange was sent with, including cookies and credential.
package final class SentFields: Sendable {
    private struct Contents {
        var fields: HTTPFields?
        var cookies: String?
        var isStandIn = false
    }

    private let contents = Mutex(Contents())

    /// Creates a record for an exchange that has not been sent.
    package init() {}

    /// The fields of the last hop; `nil` before the first one is sent.
    package var last: HTTPFields? { contents.withLock { $0.fields } }

    /// The cookies that a jar added to the first hop; `nil` before the hop is sent, empty for none.
    package var cookies: String? { contents.withLock { $0.cookies } }

    /// Whether nothing was sent, because an interceptor made the response.
    package var isStandIn: Bool { contents.withLock { $0.isStandIn } }

    /// Notes that nothing is sent.
    package func noteStandIn() { contents.withLock { $0.isStandIn = true } }

    /// Notes a hop.
    package func note(_ fields: HTTPFields) { contents.withLock { $0.fields = fields } }

    /// Notes the cookies that a jar adds to a hop.
    package func note(cookies: String) {
        contents.withLock { $0.cookies = $0.cookies ?? cookies }
    }
}
