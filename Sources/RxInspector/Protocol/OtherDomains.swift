#if Inspector
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
#endif
