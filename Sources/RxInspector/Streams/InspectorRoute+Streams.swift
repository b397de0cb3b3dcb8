#if Inspector
import HTTPTypes
import RxHAR

extension InspectorRoute {
    /// The page of streams, its feed, and the requests of its details and its export. `request` and `panel` take the number
    /// of a request as their query.
    static let streams: [InspectorRoute] =
        [
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
            InspectorRoute("request") { request, site in
                guard let number = UInt64(request.query),
                    let exchanges = try await site.exchanges(ofRequest: number)
                else { return .text(.notFound, "no such request") }
                return .json(exchanges.bytes)
            },
            InspectorRoute("panel") { request, site in
                guard let number = UInt64(request.query),
                    let count = await site.recorder.tellLink(toRequest: number)
                else { return .text(.notFound, "no such request") }
                let authority = request.host ?? site.authority
                let answer: JSON = [
                    "panels": .integer(count), "address": .string(site.devToolsURL(at: authority)),
                ]
                return .json(answer.bytes)
            },
            InspectorRoute("har") { _, site in
                .json(Array(try await site.archive().encoded()))
            },
        ]
        + StreamPage.files.map { file in
            InspectorRoute(file.name) { _, _ in .file(file.content, named: file.name) }
        }
}
#endif
