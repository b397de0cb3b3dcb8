#if Inspector
import FlyingFox
import FoundationEssentials

/// An address below the token.
struct InspectorRoute: Sendable {
    /// The rest of the path: `json/list` for `/TOKEN/json/list`.
    let path: String
    /// The response.
    let respond: @Sendable (HTTPRequest, InspectorSite) async throws -> HTTPResponse

    init(
        _ path: String,
        _ respond: @escaping @Sendable (HTTPRequest, InspectorSite) async throws -> HTTPResponse
    ) {
        self.path = path
        self.respond = respond
    }
}

extension InspectorRoute {
    /// The routes below the token.
    static func all(_ site: InspectorSite) -> [InspectorRoute] { listing + streams + [devTools(site)] }
}

extension HTTPResponse {
    static func json(_ document: JSON) -> HTTPResponse {
        HTTPResponse(
            statusCode: .ok, headers: [.contentType: "application/json; charset=UTF-8"], body: document.data)
    }

    static func text(_ status: HTTPStatusCode, _ text: String) -> HTTPResponse {
        HTTPResponse(
            statusCode: status, headers: [.contentType: "text/plain; charset=UTF-8"],
            body: Data("\(text)\n".utf8))
    }
}
#endif
