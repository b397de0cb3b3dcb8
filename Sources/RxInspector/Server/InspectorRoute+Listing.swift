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
        let host = request.host ?? site.authority
        let names = site.clientNames
        let target: JSON = [
            "description": "RxNetworking", "id": .string(site.targetID), "type": "page",
            "title": .string(title(names)), "url": .string("http://\(host)/"),
            "clients": .array(names.map { .string($0) }),
            "webSocketDebuggerUrl": .string("ws://\(site.socket(at: host))"),
            "devtoolsFrontendUrl": .string(site.devToolsURL(at: host)),
        ]
        return [target]
    }

    /// The name of the process and those of some clients, for `chrome://inspect`.
    private static func title(_ names: [String]) -> String {
        let shown = names.prefix(4) + (names.count > 4 ? ["…"] : [])
        let clients = names.isEmpty ? "" : " (\(shown.joined(separator: ", ")))"
        return "RxNetworking: \(ProcessName.current)\(clients)"
    }
}
#endif
