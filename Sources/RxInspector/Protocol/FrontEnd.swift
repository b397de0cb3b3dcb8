#if Inspector
import RxClient

/// One connected front end: its commands, and the events it has asked for.
final class FrontEnd: SocketSession {
    let outbox: MessageOutbox
    private let recorder: TrafficRecorder

    init(_ outbox: MessageOutbox, _ recorder: TrafficRecorder) {
        self.outbox = outbox
        self.recorder = recorder
    }

    func receive(_ text: String) async {
        let command: Command
        do throws(Command.Failure) {
            command = try Command(text)
        } catch {
            return outbox.send(["error": error.document])
        }
        do throws(Command.Failure) {
            let result =
                command.method.hasPrefix("Network.")
                ? try await recorder.answer(command, of: self) : try OtherDomains.answer(command)
            outbox.send(command.reply(.success(result)))
        } catch {
            outbox.send(command.reply(.failure(error)))
        }
    }

    func close() async { await recorder.leave(self) }
}

extension InspectorRoute {
    /// The WebSocket of the DevTools protocol. ``InspectorSite/socket(at:)`` has the same path.
    static func devTools(_ site: InspectorSite) -> InspectorRoute {
        InspectorRoute("devtools/page/\(site.targetID)") { request, site in
            .webSocket(request) { outbox in FrontEnd(outbox, site.recorder) }
        }
    }
}

/// A command of a front end, and the messages that answer it: those of JSON-RPC 2.0 without its version, as
/// <https://chromedevtools.github.io/devtools-protocol/> describes.
struct Command {
    let id: Int
    let method: String
    let params: JSON
    /// The session of a nested target, which the reply names too.
    let sessionID: String?

    /// An error of JSON-RPC 2.0 §5.1.
    struct Failure: Error {
        let code: Int
        let message: String

        static func unknownMethod(_ method: String) -> Failure {
            Failure(code: -32601, message: "'\(method)' wasn't found")
        }
        static func invalidParameters(_ message: String) -> Failure {
            Failure(code: -32602, message: message)
        }
        static func refused(_ message: String) -> Failure { Failure(code: -32000, message: message) }
    }

    /// Reads a message. A message that is not a command is answered with the error.
    init(_ text: String) throws(Failure) {
        guard let message = JSON(parsing: text) else {
            throw Failure(code: -32700, message: "Message must be a valid JSON")
        }
        guard case .object = message else {
            throw Failure(code: -32600, message: "Message must be an object")
        }
        guard let id = message["id"]?.integer else {
            throw Failure(code: -32600, message: "Message must have integer 'id' property")
        }
        guard let method = message["method"]?.string else {
            throw Failure(code: -32600, message: "Message must have string 'method' property")
        }
        (self.id, self.method) = (id, method)
        params = message["params"] ?? [:]
        sessionID = message["sessionId"]?.string
    }

    /// The reply to the command.
    func reply(_ result: Result<JSON, Failure>) -> JSON {
        var reply: JSON = ["id": .integer(id)]
        if let sessionID { reply = reply.adding(("sessionId", .string(sessionID))) }
        switch result {
        case .success(let result): return reply.adding(("result", result))
        case .failure(let failure): return reply.adding(("error", failure.document))
        }
    }
}

extension Command.Failure {
    var document: JSON { ["code": .integer(code), "message": .string(message)] }
}

/// The domains besides Network, which a front end asks when it opens: results as of a page without contents.
enum OtherDomains {
    /// Domains that are switched on and off, and have nothing to tell.
    private static let silent: Set<String> = [
        "Page", "Runtime", "Target", "Log", "Security", "DOM", "CSS", "Overlay", "Debugger", "Emulation",
        "ServiceWorker", "Inspector", "Audits", "Profiler", "HeapProfiler", "Animation", "Autofill", "Fetch",
        "Accessibility", "Media", "WebAuthn", "Preload", "Storage", "DOMStorage", "IndexedDB", "CacheStorage",
        "Performance", "DOMDebugger", "EventBreakpoints", "LayerTree", "BackgroundService", "WebAudio",
        "Input",
        "PWA", "FedCm", "Extensions", "Tracing", "Console", "Schema",
    ]
    /// Their commands that change nothing here.
    private static let commands: Set<String> = [
        "enable", "disable", "setAutoAttach", "setDiscoverTargets", "setRemoteLocations",
        "runIfWaitingForDebugger", "setAsyncCallStackDepth", "setPauseOnExceptions", "setBlackboxPatterns",
        "setBlackboxExecutionContexts", "setSkipAllPauses", "setBreakpointsActive",
        "setLifecycleEventsEnabled",
        "setAdBlockingEnabled", "startViolationsReport", "stopViolationsReport",
        "setShowViewportSizeOnResize",
        "setShowGridOverlays", "setShowFlexOverlays", "setShowScrollSnapOverlays",
        "setShowContainerQueryOverlays", "setShowIsolatedElements", "setShowHinge", "setShowPaintRects",
        "setShowAdHighlights", "setEmulatedMedia", "setEmulatedVisionDeficiency", "setFocusEmulationEnabled",
        "setAutoDarkModeOverride", "setTouchEmulationEnabled", "setEmitTouchEventsForMouse",
        "setUserAgentOverride",
        "setInterceptFileChooserDialog", "setInspectMode", "hideHighlight", "addBinding",
        "setBypassCSP", "setInstrumentationBreakpoint", "removeInstrumentationBreakpoint", "setDOMBreakpoint",
        "setBreakOnCSPViolation", "clearDeviceMetricsOverride", "setDataSizeLimitsForTest",
        "trackComputedStyleUpdates",
        "takeComputedStyleUpdates", "trackIndexedDBForStorageKey", "setAddresses", "clear",
    ]

    static func answer(_ command: Command) throws(Command.Failure) -> JSON {
        if let answer = answers[command.method] { return answer }
        let parts = command.method.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2, silent.contains(parts[0]), commands.contains(parts[1]) else {
            throw .unknownMethod(command.method)
        }
        return [:]
    }

    private static let url = "http://rxnetworking/"

    private static let frame: JSON = [
        "id": .string(NetworkMessage.frameID), "loaderId": "main", "url": .string(url),
        "domainAndRegistry": "",
        "securityOrigin": .string(url), "mimeType": "text/html", "secureContextType": "Secure",
        "crossOriginIsolatedContextType": "NotIsolated", "gatedAPIFeatures": [],
    ]

    private static let document: JSON = [
        "nodeId": 1, "backendNodeId": 1, "nodeType": 9, "nodeName": "#document", "localName": "",
        "nodeValue": "",
        "childNodeCount": 0, "children": [], "documentURL": .string(url), "baseURL": .string(url),
        "xmlVersion": "",
    ]

    private static let answers: [String: JSON] = [
        "Browser.getVersion": [
            "protocolVersion": "1.3", "product": "RxNetworking/1.0", "revision": "",
            "userAgent": "RxNetworking/1.0",
            "jsVersion": "",
        ],
        "CSS.enable": [:],
        "DOM.getDocument": ["root": document],
        "Debugger.enable": ["debuggerId": "0"],
        "Emulation.canEmulate": ["result": false],
        "Page.addScriptToEvaluateOnNewDocument": ["identifier": "1"],
        "Page.getNavigationHistory": [
            "currentIndex": 0,
            "entries": [
                [
                    "id": 0, "url": .string(url), "userTypedURL": .string(url), "title": "",
                    "transitionType": "link",
                ]
            ],
        ],
        "Page.getResourceTree": ["frameTree": ["frame": frame, "resources": []]],
        "Runtime.getIsolateId": ["id": "0"],
        "Schema.getDomains": ["domains": [["name": "Network", "version": "1.3"]]],
        "Storage.getStorageKeyForFrame": ["storageKey": .string(url)],
        "Storage.getStorageKey": ["storageKey": .string(url)],
        "Target.getTargets": ["targetInfos": []],
    ]
}

extension EmulatedNetwork {
    /// The parameters of `Network.emulateNetworkConditions`: milliseconds, and bytes per second, where −1 and 0 are no
    /// limit. `nil` for the real network.
    ///
    /// - Throws: for missing and for impossible values.
    init?(_ params: JSON) throws(Command.Failure) {
        guard let isOffline = params["offline"]?.bool else {
            throw .invalidParameters("offline: boolean value expected")
        }
        try self.init(isOffline: isOffline, params)
    }

    /// The parameters of `Network.emulateNetworkConditionsByRule`. Of its rules, the one for all URLs applies.
    init?(rules params: JSON) throws(Command.Failure) {
        let rules = params["matchedNetworkConditions"]?.elements ?? []
        let rule = rules.last { ($0["urlPattern"]?.string ?? "").isEmpty }
        guard let rule else {
            guard params["offline"]?.bool == true else { return nil }
            self.init(isOffline: true)
            return
        }
        try self.init(isOffline: params["offline"]?.bool == true || rule["offline"]?.bool == true, rule)
    }

    private init?(isOffline: Bool, _ params: JSON) throws(Command.Failure) {
        guard let latency = params["latency"]?.number, 0...86_400_000 ~= latency else {
            throw .invalidParameters("latency: number of milliseconds expected")
        }
        func rate(_ name: String) -> Double? { params[name]?.number.flatMap { $0 > 0 ? $0 : nil } }
        self.init(
            isOffline: isOffline, latency: .milliseconds(latency), downloadRate: rate("downloadThroughput"),
            uploadRate: rate("uploadThroughput"))
        guard self != EmulatedNetwork() else { return nil }
    }
}
#endif
