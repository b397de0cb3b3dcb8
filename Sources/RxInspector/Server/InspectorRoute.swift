#if Inspector
/// An address below the token.
struct InspectorRoute: Sendable {
    /// The rest of the path: `json/list` for `/TOKEN/json/list`.
    let path: String
    /// The response.
    let respond: @Sendable (RequestHead, InspectorSite) async throws -> InspectorResponse

    init(
        _ path: String,
        _ respond: @escaping @Sendable (RequestHead, InspectorSite) async throws -> InspectorResponse
    ) {
        self.path = path
        self.respond = respond
    }
}

extension InspectorRoute {
    /// The routes below the token.
    static func all(_ site: InspectorSite) -> [InspectorRoute] { listing + streams + [devTools(site)] }
}
#endif
