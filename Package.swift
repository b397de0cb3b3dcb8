// swift-tools-version: 6.2

import PackageDescription

// Tests/run.sh sets WARNINGS_AS_ERRORS. -warnings-as-errors on the command line would reach the dependencies too, where
// SwiftPM passes -suppress-warnings, and the compiler refuses the two together.
let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .strictMemorySafety(),
    ] + (Context.environment["WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)])

/// The optional parts. A dependency that only these need is not even fetched without them.
let traits: Set<Trait> = [
    .trait(name: "Brotli", description: "Decodes responses that are coded with Brotli, by libbrotlidec."),
    .trait(name: "Zstd", description: "Decodes responses that are coded with Zstandard, by libzstd."),
    .trait(name: "DiskCache", description: "Stores responses on disk, in SQLite, with RxDiskCache."),
    .trait(name: "Logging", description: "Writes the traffic of a client to swift-log."),
    .trait(name: "Metrics", description: "Records metrics of a client by swift-metrics, with RxMetrics."),
    .trait(name: "Tracing", description: "Traces calls by swift-distributed-tracing, with RxTracing."),
    .trait(name: "ServiceLifecycle", description: "Runs clients and loops as services, with RxServices."),
    .trait(name: "Auth", description: "OAuth and signed requests, with RxAuth and swift-crypto."),
    .trait(name: "Inspector", description: "Shows requests in Chrome's developer tools, with RxInspector."),
    .trait(name: "Outbox", description: "Sends stored requests until they have arrived, with RxOutbox."),
    .trait(name: "Fleet", description: "Shares login, limits and cache among processes, with RxFleet."),
]
// Tests/run.sh sets it, so that what is optional is built and tested too.
let defaultTraits = Context.environment["ALL_TRAITS"] == nil ? [] : Set(traits.map(\.name))

/// The inspector's page of streams.
let pageFiles = [
    "page.html", "page.css", "cards.js", "details.js", "dom.js", "exports.js", "feed.js", "filter.js",
    "keyboard.js", "marbles.js", "model.js", "page.js", "peek.js", "picture.js", "request-details.js",
    "requests.js", "scale.js", "settings.js", "streams.js",
]

// Reads top to bottom as the architecture: a target may import what stands above it and is named in its
// line, nothing else. Tests/ArchitectureTests holds the sources to these arrows.
let package = Package(
    name: "RxNetworking",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "RxNetworking", targets: ["RxNetworking"]),
        .library(name: "RxLite", targets: ["RxLite"]),
        .library(name: "RxTesting", targets: ["RxTesting"]),
        .library(name: "RxSimulation", targets: ["RxSimulation"]),
        // Needs Swift Testing, and so only for test targets.
        .library(name: "RxTestingSupport", targets: ["RxTestingSupport"]),
        .library(name: "RxJSON", targets: ["RxJSON"]),
        // Each with a trait: Auth, DiskCache, Fleet, Metrics, ServiceLifecycle, Tracing, Inspector, Outbox.
        .library(name: "RxAuth", targets: ["RxAuth"]),
        .library(name: "RxDiskCache", targets: ["RxDiskCache"]),
        .library(name: "RxMetrics", targets: ["RxMetrics"]),
        .library(name: "RxServices", targets: ["RxServices"]),
        .library(name: "RxTracing", targets: ["RxTracing"]),
        .library(name: "RxInspector", targets: ["RxInspector"]),
        .library(name: "RxOutbox", targets: ["RxOutbox"]),
        .library(name: "RxFleet", targets: ["RxFleet"]),
        .library(name: "RxTransfers", targets: ["RxTransfers"]),
    ],
    traits: traits.union([.default(enabledTraits: defaultTraits)]),
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]),
        .systemLibrary(
            name: "CLibcurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "CLibpsl", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"]), .brew(["libpsl"])]),

        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),

        .systemLibrary(
            name: "CBrotli", pkgConfig: "libbrotlidec",
            providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]),
        .systemLibrary(
            name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),

        .library("RxLite"),
        .library("RxLoop", ["RxLite", "CLibuv"]),
        .library("RxJSON"),
        .library("RxSQLite", [.grdb]),
        .library("RxWebSocket", ["CZlib", .httpTypes]),
        .library("RxHTTP", ["RxJSON", "RxLite", .httpTypes]),
        .library("RxCache", ["RxHTTP", "RxJSON", "RxLite", .httpTypes]),
        .library("RxCookies", ["RxHTTP", "RxLite", .httpTypes]),
        .library("RxParameters", ["RxHTTP", "RxJSON", .httpTypes]),
        .library("RxHAR", ["RxHTTP", "RxWebSocket", .httpTypes]),
        .library(
            "RxCurl",
            [
                "RxHTTP", "RxLoop", "RxLite", "CLibcurl", "CZlib", .httpTypes,
                .target(name: "CBrotli", condition: .when(traits: ["Brotli"])),
                .target(name: "CZstd", condition: .when(traits: ["Zstd"])),
            ]),
        .library(
            "RxClient",
            [
                "RxCache", "RxCookies", "RxHAR", "RxHTTP", "RxJSON", "RxLite", "RxParameters", "RxWebSocket",
                .httpTypes, .logging, .structuredFields,
            ]),
        .library(
            "RxNetworking",
            [
                "RxClient", "RxCache", "RxCookies", "RxHAR", "RxParameters", "RxCurl", "RxLoop", "RxHTTP",
                "RxLite", "RxWebSocket", "CLibpsl", .httpTypes, .logging,
            ]),
        .library("RxDiskCache", ["RxCache", "RxHTTP", "RxLite", "RxSQLite", "CZlib", .grdb]),
        .library(
            "RxAuth",
            [
                "RxClient", "RxHTTP", "RxJSON", "RxLite", "RxLoop", "RxParameters", .httpTypes,
                .structuredFields, .crypto, .cryptoExtras,
            ]),
        .library(
            "RxOutbox",
            ["RxClient", "RxHTTP", "RxJSON", "RxLite", "RxSQLite", "CZlib", .httpTypes, .grdb, .logging]),
        .library(
            "RxMetrics",
            [
                "RxClient", "RxHTTP", "RxLite", .httpTypes, .coreMetrics,
                .target(name: "RxFleet", condition: .when(traits: ["Fleet"])),
                .target(name: "RxOutbox", condition: .when(traits: ["Outbox"])),
            ]),
        .library(
            "RxServices",
            [
                "RxClient", "RxLite", "RxLoop", .serviceLifecycle,
                .target(name: "RxInspector", condition: .when(traits: ["Inspector"])),
                .target(name: "RxOutbox", condition: .when(traits: ["Outbox"])),
            ]),
        .library("RxTracing", ["RxClient", "RxHTTP", "RxLite", .httpTypes, .tracing]),
        .library(
            "RxInspector",
            [
                "RxCache", "RxClient", "RxHAR", "RxHTTP", "RxLite", "RxWebSocket", .httpTypes,
                .inspectorSocks,
            ], resources: pageFiles.map { .embedInCode("Page/\($0)") }),
        .library(
            "RxFleet",
            [
                "RxCache", "RxClient", "RxCurl", "RxHTTP", "RxLite", "RxLoop", "RxSQLite", .httpTypes,
                .crypto, .grdb, .target(name: "RxOutbox", condition: .when(traits: ["Outbox"])),
            ]),
        .library(
            "RxTransfers", ["RxClient", "RxHTTP", "RxLite", "RxParameters", .httpTypes, .structuredFields]),
        .library("RxTesting", ["RxHTTP", "RxJSON", "RxLite", "RxWebSocket", .httpTypes]),
        .library("RxSimulation", ["RxHTTP", "RxJSON", "RxLite", "RxTesting", "RxWebSocket", .httpTypes]),
        .library("RxTestingSupport", ["RxHTTP", "RxLite", "RxSimulation", "RxTesting"]),

        // The client under faults: scenarios, which tests run with few seeds and Tests/explore.sh with many.
        .library(
            "Scenarios",
            [
                "RxNetworking", "RxSimulation", "RxTesting", "RxTransfers", .httpTypes,
                .target(name: "RxFleet", condition: .when(traits: ["Fleet"])),
                .target(name: "RxOutbox", condition: .when(traits: ["Outbox"])), "TestOutboxes",
            ], path: "Tests/ExplorationTests/Scenarios"),
        .program("explore", ["RxSimulation", "Scenarios"], path: "Tests/ExplorationTests/Explore"),
        .tests(
            "ExplorationTests",
            ["RxNetworking", "RxSimulation", "RxTesting", "Scenarios", "TestServers", "explore", .httpTypes],
            exclude: ["Scenarios", "Explore"]),

        // Servers on loopback. They import nothing of the above but zlib, so that neither side hides the other's
        // faults.
        .library("TestServers", ["CZlib"], path: "Tests/TestServers"),
        // Many requests with faults among them; a test runs it with few, Tests/soak.sh with many.
        .program("soak", ["RxNetworking", "RxSimulation", "RxTesting"], path: "Tests/Soak"),
        .tests("TestServersTests", ["TestServers"]),
        // The cases of the Autobahn test suite, for Tests/websocket.sh.
        .program("websocket-cases", ["RxNetworking", "TestServers"], path: "Tests/WebSocketCases"),
        .library("PlaygroundServer", [.flyingFox, .flyingSocks], path: "Playground/Server"),
        .program(
            "Playground",
            [
                "RxAuth", "RxFleet", "RxInspector", "RxNetworking", "RxOutbox", "RxTransfers",
                "PlaygroundServer",
            ],
            path: "Playground/Tour"),

        // Processes of their own, for tests that kill them.
        .program("download-probe", ["RxNetworking"], path: "Tests/DownloadProbe"),
        .program("session-probe", ["RxNetworking"], path: "Tests/SessionProbe"),

        .program(
            "disk-cache-probe", ["RxCache", "RxDiskCache", "RxSimulation", "RxTesting", .httpTypes],
            path: "Tests/DiskCacheProbe"),
        .tests(
            "RxDiskCacheTests",
            [
                "RxCache", "RxDiskCache", "RxNetworking", "RxSimulation", "RxTesting", "TestServers",
                "disk-cache-probe", .httpTypes, .grdb,
            ]),

        // A store that forwards to another one, for stores that tests slow down or watch.
        .library("TestOutboxes", ["RxHTTP", "RxLite", "RxOutbox"], path: "Tests/TestOutboxes"),
        .program(
            "outbox-probe", ["RxNetworking", "RxOutbox", "TestServers", .httpTypes], path: "Tests/OutboxProbe"
        ),
        .tests(
            "RxOutboxTests",
            [
                "RxClient", "RxCurl", "RxFleet", "RxHTTP", "RxLite", "RxNetworking", "RxOutbox",
                "RxParameters", "RxSQLite", "RxTesting", "TestOutboxes", "TestServers", "outbox-probe",
                .httpTypes,
                .grdb,
                .logging, .inMemoryLogging,
            ]),

        .program("fleet-probe", ["RxFleet", "RxNetworking"], path: "Tests/FleetProbe"),

        .tests("RxLiteTests", ["RxLite", "RxLoop", "RxTesting"]),
        .tests(
            "RxTestingTests",
            ["RxTesting", "RxClient", "RxHTTP", "RxLite", "RxParameters", "RxWebSocket", .httpTypes],
            exclude: ["Fixtures"]),
        .tests(
            "RxSimulationTests",
            [
                "RxSimulation", "RxClient", "RxHTTP", "RxLite", "RxParameters", "RxTesting", "RxWebSocket",
                .httpTypes,
            ],
            exclude: ["Fixtures"]),
        .tests(
            "RxTestingSupportTests",
            [
                "RxClient", "RxHTTP", "RxLite", "RxSimulation", "RxTesting", "RxTestingSupport", .httpTypes,
            ],
            exclude: ["Cassettes"]),
        .tests("RxJSONTests", ["RxJSON", "RxTesting"]),
        .tests("RxWebSocketTests", ["RxWebSocket", .httpTypes]),
        .tests("RxHTTPTests", ["RxHTTP", "RxLite", "RxTesting", "TestServers", .httpTypes]),
        .tests("RxCacheTests", ["RxCache", "RxHTTP", "RxLite", "RxTesting", .httpTypes]),
        // A jar and a storage, for the tests of cookies with a client and without.
        .library("TestCookies", ["RxCookies", "RxHTTP", "RxLite", "RxTesting"], path: "Tests/TestCookies"),
        .tests("RxCookiesTests", ["RxCookies", "RxHTTP", "RxLite", "RxTesting", "TestCookies", .httpTypes]),
        .tests("RxHARTests", ["RxHAR", "RxHTTP"]),
        .tests(
            "RxFleetTests",
            [
                "RxAuth", "RxCache", "RxClient", "RxCurl", "RxFleet", "RxHTTP", "RxLite", "RxLoop",
                "RxParameters",
                "RxSQLite", "RxSimulation", "RxTesting", "TestServers", "fleet-probe", .httpTypes, .grdb,
            ]),
        // A process of its own, for tests that kill it.
        .program("transfer-probe", ["RxAuth", "RxNetworking", "RxTransfers"], path: "Tests/TransferProbe"),
        .tests(
            "RxTransfersTests",
            [
                "RxAuth", "RxClient", "RxHTTP", "RxLite", "RxNetworking", "RxTesting", "RxTransfers",
                "TestServers", "transfer-probe", .httpTypes,
            ]),
        .tests(
            "RxClientTests",
            [
                "RxClient", "RxCache", "RxCookies", "RxHAR", "RxHTTP", "RxLite", "RxParameters",
                "RxSimulation", "RxTesting", "RxWebSocket", "TestCookies", .httpTypes, .logging,
                .inMemoryLogging,
            ], exclude: ["Pipeline/Transcripts.txt"]),
        .tests(
            "RxAuthTests",
            [
                "RxAuth", "RxClient", "RxHAR", "RxHTTP", "RxJSON", "RxLite", "RxLoop", "RxNetworking",
                "RxParameters", "RxTesting", "TestServers", .httpTypes, .structuredFields, .crypto,
                .cryptoExtras, .logging,
                .inMemoryLogging,
            ]),
        .tests(
            "RxMetricsTests",
            [
                "RxCache", "RxClient", "RxHTTP", "RxLite", "RxMetrics", "RxNetworking", "RxParameters",
                "RxTesting", "TestServers", .httpTypes, .coreMetrics, .metricsTestKit,
                "RxFleet", "RxOutbox",
            ]),
        .tests(
            "RxServicesTests",
            [
                "RxClient", "RxHTTP", "RxInspector", "RxLite", "RxNetworking", "RxServices", "RxTesting",
                "TestServers", .logging, .serviceLifecycle, .serviceLifecycleTestKit,
                "RxOutbox", .httpTypes,
            ]),
        // A tracer that sends the context as the W3C recommends.
        .library("TestTracing", [.tracing, .inMemoryTracing], path: "Tests/TestTracing"),
        .tests(
            "RxTracingTests",
            [
                "RxCache", "RxClient", "RxHTTP", "RxLite", "RxNetworking", "RxParameters", "RxTesting",
                "RxTracing", "RxWebSocket", "TestServers", "TestTracing", .httpTypes, .tracing,
                .inMemoryTracing,
            ]),
        .tests(
            "RxInspectorTests",
            [
                "RxFleet", "RxInspector", "PlaygroundServer", "RxNetworking", "RxOutbox", "RxTesting",
                "TestServers", .httpTypes,
            ], exclude: ["Sessions"]),
        .tests(
            "FuzzTests",
            [
                "RxAuth", "RxClient", "RxCache", "RxCurl", "RxFleet", "RxHAR", "RxHTTP", "RxJSON", "RxLite",
                "RxLoop", "RxSimulation", "RxTesting", "RxWebSocket", "TestServers", .httpTypes,
            ]),
        .tests("RxMarblesTests", ["RxLite", "RxTesting"]),
        .tests("ArchitectureTests"),
        // Names that other frameworks share with RxNetworking.
        .library("Neighbours", path: "Tests/Neighbours"),
        .tests(
            "SurfaceTests",
            // The probe, since it is linked with all of RxNetworking, as the programs of the pages are.
            [
                "RxNetworking", "RxAuth", "RxDiskCache", "RxFleet", "RxInspector", "RxJSON", "RxMetrics",
                "RxOutbox", "RxServices", "RxSimulation", "RxTesting", "RxTestingSupport", "RxTracing",
                "RxTransfers",
                "Neighbours",
                "TestServers", "download-probe", .httpTypes, .logging,
                .serviceLifecycle, .tracing, .unixSignals,
            ], exclude: ["Samples/Tutorial/Cassettes"]),
        // Tests/SurfaceTests/Samples/Chains.swift once more, as the code of packages with other settings.
        .target(
            name: "MainActorChains", dependencies: ["RxNetworking"], path: "Tests/MainActorChains",
            swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
        .target(
            name: "Swift5Chains", dependencies: ["RxNetworking"], path: "Tests/Swift5Chains",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .tests("RxNetworkingTests", ["RxNetworking", "TestServers", "session-probe"]),
        // Apps whose former network layers others have described.
        .tests("SeedTests", ["RxNetworking", "RxTesting", "TestServers"]),
        // Drives the client by JSON lines, for suites that are written in other languages.
        .program("conformance-driver", ["RxNetworking"], path: "Tests/ConformanceDriver"),
        .tests("ConformanceDriverTests", ["conformance-driver", "TestServers"]),
        // Against servers that others wrote; Tests/services.sh installs these.
        .tests(
            "ServiceTests",
            [
                "RxAuth", "RxHTTP", "RxMetrics", "RxNetworking", "RxTesting", "RxTracing", "TestServers",
                "TestTracing", "conformance-driver", "download-probe", .httpTypes, .crypto, .tracing,
                .inMemoryTracing, .metricsTestKit,
            ]),
        .tests("RxLoopTests", ["RxLoop", "RxLite"]),
        .tests(
            "RxCurlTests",
            [
                "RxClient", "RxCookies", "RxCurl", "RxHTTP", "RxLoop", "RxLite", "RxWebSocket", "TestServers",
                "download-probe", .httpTypes,
            ]),
        .tests(
            "PlaygroundServerTests",
            [
                "Playground", "PlaygroundServer", "RxHTTP", "RxNetworking", "RxSimulation", "RxTesting",
                "RxTestingSupport", "TestServers",
            ], exclude: ["Cassettes"]),
    ],
    swiftLanguageModes: [.v6]
)

extension Target {
    static func library(
        _ name: String, _ dependencies: [Dependency] = [], path: String? = nil, resources: [Resource] = []
    ) -> Target {
        .target(
            name: name, dependencies: dependencies, path: path, resources: resources, swiftSettings: settings)
    }
    static func program(_ name: String, _ dependencies: [Dependency], path: String) -> Target {
        .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
    }
    static func tests(_ name: String, _ dependencies: [Dependency] = [], exclude: [String] = []) -> Target {
        .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
    }
}

extension Target.Dependency {
    static var httpTypes: Self { .product(name: "HTTPTypes", package: "swift-http-types") }
    static var structuredFields: Self {
        .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers")
    }
    static var crypto: Self { optional("Crypto", "swift-crypto", "Auth", "Fleet") }
    static var cryptoExtras: Self { optional("CryptoExtras", "swift-crypto", "Auth") }
    static var flyingFox: Self { .product(name: "FlyingFox", package: "FlyingFox") }
    static var flyingSocks: Self { .product(name: "FlyingSocks", package: "FlyingFox") }
    static var logging: Self { optional("Logging", "swift-log", "Logging") }
    static var inMemoryLogging: Self { optional("InMemoryLogging", "swift-log", "Logging") }
    static var coreMetrics: Self { optional("CoreMetrics", "swift-metrics", "Metrics") }
    static var metricsTestKit: Self { optional("MetricsTestKit", "swift-metrics", "Metrics") }
    static var serviceLifecycle: Self { lifecycle("ServiceLifecycle") }
    static var unixSignals: Self { lifecycle("UnixSignals") }
    static var serviceLifecycleTestKit: Self { lifecycle("ServiceLifecycleTestKit") }
    static var tracing: Self { optional("Tracing", "swift-distributed-tracing", "Tracing") }
    static var inMemoryTracing: Self { optional("InMemoryTracing", "swift-distributed-tracing", "Tracing") }
    static var grdb: Self { optional("GRDB", "GRDB.swift", "DiskCache", "Fleet", "Outbox") }
    static var inspectorSocks: Self { optional("FlyingSocks", "FlyingFox", "Inspector") }

    private static func lifecycle(_ name: String) -> Self {
        optional(name, "swift-service-lifecycle", "ServiceLifecycle")
    }
    /// A product that only some traits need.
    private static func optional(_ name: String, _ package: String, _ traits: String...) -> Self {
        .product(name: name, package: package, condition: .when(traits: Set(traits)))
    }
}

// Only these test targets, where few of them run: building all takes longer than running those.
if let names = Context.environment["TEST_TARGETS"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
