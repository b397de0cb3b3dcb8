#if Inspector
import FlyingFox
import FoundationEssentials
import RxHAR

extension InspectorRoute {
    /// The page of streams, its feed, and the requests of its export.
    static let streams: [InspectorRoute] = [
        InspectorRoute("") { request, site in
            StreamPage.response(to: request.headers[.host] ?? site.authority)
        },
        InspectorRoute("streams") { request, site in
            try await .webSocket(request) { outbox in
                let viewer = Viewer(outbox, site.streams)
                site.streams.add(viewer)
                return viewer
            }
        },
        InspectorRoute("har") { _, site in
            HTTPResponse(
                statusCode: .ok, headers: [.contentType: "application/json; charset=UTF-8"],
                body: try site.streams.archive.encoded())
        },
    ]
}
#endif
