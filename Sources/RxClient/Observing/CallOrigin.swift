/// The call that events belong to.
package final class CallOrigin: Sendable {
    /// The endpoint; `nil` for a handmade request.
    package let endpoint: (any Endpoint)?
    /// The kind of the call.
    package let kind: CallKind

    init(_ kind: CallKind, _ endpoint: (any Endpoint)?) {
        self.kind = kind
        self.endpoint = endpoint
    }
}
