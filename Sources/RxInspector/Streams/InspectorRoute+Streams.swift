#if Inspector
import RxHAR

extension InspectorRoute {
    /// The page of streams, its feed, and the requests of its export.
    static let streams: [InspectorRoute] = [
        InspectorRoute("") { request, site in
            StreamPage.response(to: request.host ?? site.authority)
        },
        InspectorRoute("streams") { request, site in
            .webSocket(request) { outbox in
                let viewer = Viewer(outbox, site.streams)
                site.streams.add(viewer)
                return viewer
            }
        },
        InspectorRoute("har") { _, site in
            .json(Array(try await site.archive().encoded()))
        },
    ]
}
#endif
