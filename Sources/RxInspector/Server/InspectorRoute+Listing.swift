#if Inspector
extension InspectorRoute {
    /// The addresses that programs read to find the target, as
    /// <https://chromedevtools.github.io/devtools-protocol/#endpoints> describes them.
    static let listing: [InspectorRoute] = [
        InspectorRoute("json/version") { _, _ in .json(version.bytes) },
        InspectorRoute("json/list") { request, site in .json(list(request, site).bytes) },
        InspectorRoute("json") { request, site in .json(list(request, site).bytes) },
    ]

    private static let version: JSON = ["Browser": "RxNetworking/1.0", "Protocol-Version": "1.3"]

    private static func list(_ request: RequestHead, _ site: InspectorSite) -> JSON {
        // The address under which the asker reaches the server, which a tunnel changes.
        let host = request.host ?? site.authority
        let socket = "\(host)/\(site.token)/devtools/page/\(site.targetID)"
        let target: JSON = [
            "description": "RxNetworking", "id": .string(site.targetID), "type": "page",
            "title": .string("RxNetworking: \(ProcessName.current)"), "url": .string("http://\(host)/"),
            "webSocketDebuggerUrl": .string("ws://\(socket)"),
            "devtoolsFrontendUrl": .string(
                "devtools://devtools/bundled/devtools_app.html?panel=network&ws=\(socket)"),
        ]
        return [target]
    }
}
#endif
