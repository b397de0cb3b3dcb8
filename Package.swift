// swift-tools-version: 6.2

import PackageDescription

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]
// Tests/run.sh sets it. -warnings-as-errors on the command line would reach the dependencies too, where SwiftPM
// passes -suppress-warnings, and the compiler refuses the two together.
if Context.environment["WARNINGS_AS_ERRORS"] != nil {
    settings.append(.treatAllWarnings(as: .error))
}

/// The optional parts. A dependency that only these need is not even fetched without them.
let traits: Set<Trait> = [
    .trait(name: "Brotli", description: "Decodes responses that are coded with Brotli, by libbrotlidec."),
    .trait(name: "Zstd", description: "Decodes responses that are coded with Zstandard, by libzstd."),
    .trait(name: "DiskCache", description: "Stores responses on disk, in SQLite, with RxDiskCache."),
    .trait(name: "Logging", description: "Writes the traffic of a client to swift-log."),
    .trait(name: "Metrics", description: "Records metrics of a client by swift-metrics, with RxMetrics."),
    .trait(name: "Tracing", description: "Traces calls by swift-distributed-tracing, with RxTracing."),
    .trait(name: "ServiceLifecycle", description: "Runs clients and loops as services, with RxServices."),
    .trait(name: "Inspector", description: "Shows requests in Chrome's developer tools, with RxInspector."),
]
// Tests/run.sh sets it, so that what is optional is built and tested too.
let defaultTraits = Context.environment["ALL_TRAITS"] == nil ? [] : Set(traits.map(\.name))

// Reads top to bottom as the architecture: a target may import what stands above it and is named in its
// line, nothing else. Tests/ArchitectureTests holds the sources to these arrows.
let package = Package(
    name: "RxNetworking",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "RxNetworking", targets: ["RxNetworking"]),
        .library(name: "RxLite", targets: ["RxLite"]),
        .library(name: "RxTesting", targets: ["RxTesting"]),
        // Needs Swift Testing, and so only for test targets.
        .library(name: "RxTestingSupport", targets: ["RxTestingSupport"]),
        .library(name: "RxJSON", targets: ["RxJSON"]),
        // With the trait DiskCache.
        .library(name: "RxDiskCache", targets: ["RxDiskCache"]),
        // With the trait Metrics.
        .library(name: "RxMetrics", targets: ["RxMetrics"]),
        .library(name: "RxServices", targets: ["RxServices"]),
        .library(name: "RxTracing", targets: ["RxTracing"]),
        // With the trait Inspector.
        .library(name: "RxInspector", targets: ["RxInspector"]),
    ],
    traits: traits.union([.default(enabledTraits: defaultTraits)]),
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
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

        .target(name: "RxLite", swiftSettings: settings),
        .target(name: "RxLoop", dependencies: ["RxLite", "CLibuv"], swiftSettings: settings),
        .target(name: "RxJSON", swiftSettings: settings),
        .target(name: "RxWebSocket", dependencies: ["CZlib", .httpTypes], swiftSettings: settings),
        .target(name: "RxHTTP", dependencies: ["RxJSON", "RxLite", .httpTypes], swiftSettings: settings),
        .target(
            name: "RxCache", dependencies: ["RxHTTP", "RxJSON", "RxLite", .httpTypes], swiftSettings: settings
        ),
        .target(
            name: "RxCookies", dependencies: ["RxHTTP", "RxLite", .httpTypes], swiftSettings: settings),
        .target(
            name: "RxParameters", dependencies: ["RxHTTP", .httpTypes], swiftSettings: settings),
        .target(name: "RxHAR", dependencies: ["RxHTTP", "RxWebSocket", .httpTypes], swiftSettings: settings),
        .target(
            name: "RxCurl",
            dependencies: [
                "RxHTTP", "RxLoop", "RxLite", "CLibcurl", "CZlib", .httpTypes,
                .target(name: "CBrotli", condition: .when(traits: ["Brotli"])),
                .target(name: "CZstd", condition: .when(traits: ["Zstd"])),
            ],
            swiftSettings: settings),
        .target(
            name: "RxClient",
            dependencies: [
                "RxCache", "RxCookies", "RxHAR", "RxHTTP", "RxJSON", "RxLite", "RxParameters", "RxWebSocket",
                .httpTypes, .logging, .structuredFields,
            ],
            swiftSettings: settings),
        .target(
            name: "RxNetworking",
            dependencies: [
                "RxClient", "RxCache", "RxCookies", "RxHAR", "RxParameters", "RxCurl", "RxLoop", "RxHTTP",
                "RxLite", "RxWebSocket", "CLibpsl", .httpTypes, .logging,
            ],
            swiftSettings: settings),
        .target(
            name: "RxDiskCache", dependencies: ["RxCache", "RxHTTP", "RxLite", "CZlib", .grdb],
            swiftSettings: settings),
        .target(
            name: "RxMetrics", dependencies: ["RxClient", "RxHTTP", "RxLite", .httpTypes, .coreMetrics],
            swiftSettings: settings),
        .target(
            name: "RxServices",
            dependencies: [
                "RxClient", "RxLite", "RxLoop", .serviceLifecycle,
                .target(name: "RxInspector", condition: .when(traits: ["Inspector"])),
            ],
            swiftSettings: settings),
        .target(
            name: "RxTracing", dependencies: ["RxClient", "RxHTTP", "RxLite", .httpTypes, .tracing],
            swiftSettings: settings),
        .target(
            name: "RxInspector",
            dependencies: [
                "RxCache", "RxClient", "RxHAR", "RxHTTP", "RxLite", "RxWebSocket", .httpTypes, .inspectorFox,
                .inspectorSocks,
            ],
            resources: [.embedInCode("Page/page.html"), .embedInCode("Page/page.js")],
            swiftSettings: settings),
        .target(
            name: "RxTesting", dependencies: ["RxHTTP", "RxJSON", "RxLite", "RxWebSocket", .httpTypes],
            swiftSettings: settings),
        .target(
            name: "RxTestingSupport", dependencies: ["RxHTTP", "RxLite", "RxTesting"],
            swiftSettings: settings),

        // The client under faults: scenarios, which tests run with few seeds and Tests/explore.sh with many.
        .target(
            name: "Scenarios", dependencies: ["RxNetworking", "RxTesting", .httpTypes],
            path: "Tests/ExplorationTests/Scenarios", swiftSettings: settings),
        .executableTarget(
            name: "explore", dependencies: ["RxTesting", "Scenarios"], path: "Tests/ExplorationTests/Explore",
            swiftSettings: settings),
        .testTarget(
            name: "ExplorationTests",
            dependencies: [
                "RxNetworking", "RxTesting", "Scenarios", "TestServers", "explore", .httpTypes,
            ],
            exclude: ["Scenarios", "Explore"], swiftSettings: settings),

        // Servers on loopback. They import nothing of the above but zlib, so that neither side hides the other's
        // faults.
        .target(
            name: "TestServers", dependencies: ["CZlib"], path: "Tests/TestServers", swiftSettings: settings),
        // Many requests with faults among them; a test runs it with few, Tests/soak.sh with many.
        .executableTarget(
            name: "soak", dependencies: ["RxNetworking", "RxTesting"], path: "Tests/Soak",
            swiftSettings: settings),
        .testTarget(name: "TestServersTests", dependencies: ["TestServers"], swiftSettings: settings),
        // The cases of the Autobahn test suite, for Tests/websocket.sh.
        .executableTarget(
            name: "websocket-cases", dependencies: ["RxNetworking", "TestServers"],
            path: "Tests/WebSocketCases",
            swiftSettings: settings),
        .target(
            name: "PlaygroundServer", dependencies: [.flyingFox, .flyingSocks], path: "Playground/Server",
            swiftSettings: settings),
        .executableTarget(
            name: "Playground", dependencies: ["RxInspector", "RxNetworking", "PlaygroundServer"],
            path: "Playground/Tour",
            swiftSettings: settings),

        // Processes of their own, for tests that kill them.
        .executableTarget(
            name: "download-probe", dependencies: ["RxNetworking"], path: "Tests/DownloadProbe",
            swiftSettings: settings),

        .executableTarget(
            name: "disk-cache-probe", dependencies: ["RxCache", "RxDiskCache", "RxTesting", .httpTypes],
            path: "Tests/DiskCacheProbe", swiftSettings: settings),
        .testTarget(
            name: "RxDiskCacheTests",
            dependencies: [
                "RxCache", "RxDiskCache", "RxNetworking", "RxTesting", "TestServers", "disk-cache-probe",
                .httpTypes,
                .grdb,
            ], swiftSettings: settings),

        .testTarget(
            name: "RxLiteTests", dependencies: ["RxLite", "RxLoop", "RxTesting"], swiftSettings: settings),
        .testTarget(
            name: "RxTestingTests",
            dependencies: [
                "RxTesting", "RxClient", "RxHTTP", "RxLite", "RxParameters", "RxWebSocket", .httpTypes,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RxTestingSupportTests",
            dependencies: ["RxClient", "RxHTTP", "RxLite", "RxTesting", "RxTestingSupport", .httpTypes],
            swiftSettings: settings),
        .testTarget(name: "RxJSONTests", dependencies: ["RxJSON", "RxTesting"], swiftSettings: settings),
        .testTarget(
            name: "RxWebSocketTests", dependencies: ["RxWebSocket", .httpTypes], swiftSettings: settings),
        .testTarget(
            name: "RxHTTPTests", dependencies: ["RxHTTP", "RxLite", "RxTesting", "TestServers", .httpTypes],
            swiftSettings: settings),
        .testTarget(
            name: "RxCacheTests", dependencies: ["RxCache", "RxHTTP", "RxLite", "RxTesting", .httpTypes],
            swiftSettings: settings),
        // A jar and a storage, for the tests of cookies with a client and without.
        .target(
            name: "TestCookies", dependencies: ["RxCookies", "RxHTTP", "RxLite", "RxTesting"],
            path: "Tests/TestCookies", swiftSettings: settings),
        .testTarget(
            name: "RxCookiesTests",
            dependencies: ["RxCookies", "RxHTTP", "RxLite", "RxTesting", "TestCookies", .httpTypes],
            swiftSettings: settings),
        .testTarget(name: "RxHARTests", dependencies: ["RxHAR", "RxHTTP"], swiftSettings: settings),
        .testTarget(
            name: "RxClientTests",
            dependencies: [
                "RxClient", "RxCache", "RxCookies", "RxHAR", "RxHTTP", "RxLite", "RxParameters", "RxTesting",
                "RxWebSocket",
                "TestCookies", .httpTypes, .logging, .inMemoryLogging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RxMetricsTests",
            dependencies: [
                "RxCache", "RxClient", "RxHTTP", "RxLite", "RxMetrics", "RxNetworking", "RxParameters",
                "RxTesting",
                "TestServers",
                .httpTypes, .coreMetrics, .metricsTestKit,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RxServicesTests",
            dependencies: [
                "RxClient", "RxHTTP", "RxInspector", "RxLite", "RxNetworking", "RxServices", "RxTesting",
                "TestServers", .logging, .serviceLifecycle, .serviceLifecycleTestKit,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RxTracingTests",
            dependencies: [
                "RxCache", "RxClient", "RxHTTP", "RxLite", "RxNetworking", "RxParameters", "RxTesting",
                "RxTracing",
                "RxWebSocket", "TestServers", .httpTypes, .tracing, .inMemoryTracing,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RxInspectorTests",
            dependencies: [
                "RxInspector", "PlaygroundServer", "RxNetworking", "RxTesting", "TestServers", .httpTypes,
                .inspectorFox,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "RxClient", "RxCache", "RxCurl", "RxHAR", "RxHTTP", "RxJSON", "RxTesting", "RxWebSocket",
                .httpTypes,
            ],
            swiftSettings: settings),
        .testTarget(name: "RxMarblesTests", dependencies: ["RxLite", "RxTesting"], swiftSettings: settings),
        .testTarget(name: "ArchitectureTests", swiftSettings: settings),
        .testTarget(
            name: "SurfaceTests",
            // The probe, since it is linked with all of RxNetworking, as the programs of the pages are.
            dependencies: [
                "RxNetworking", "RxDiskCache", "RxInspector", "RxJSON", "RxMetrics", "RxServices",
                "RxTesting",
                "RxTestingSupport", "RxTracing", "TestServers", "download-probe", .httpTypes, .logging,
                .serviceLifecycle, .tracing, .unixSignals,
            ],
            swiftSettings: settings),
        // Tests/SurfaceTests/Samples/Chains.swift once more, as the code of packages with other settings.
        .target(
            name: "MainActorChains", dependencies: ["RxNetworking"], path: "Tests/MainActorChains",
            swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
        .target(
            name: "Swift5Chains", dependencies: ["RxNetworking"], path: "Tests/Swift5Chains",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "RxNetworkingTests", dependencies: ["RxNetworking", "TestServers"], swiftSettings: settings),
        // Drives the client by JSON lines, for suites that are written in other languages.
        .executableTarget(
            name: "conformance-driver", dependencies: ["RxNetworking"], path: "Tests/ConformanceDriver",
            swiftSettings: settings),
        .testTarget(
            name: "ConformanceDriverTests", dependencies: ["conformance-driver", "TestServers"],
            swiftSettings: settings),
        // Against servers that others wrote; Tests/services.sh installs these.
        .testTarget(
            name: "ServiceTests",
            dependencies: ["RxNetworking", "TestServers", "conformance-driver", "download-probe"],
            swiftSettings: settings),
        .testTarget(name: "RxLoopTests", dependencies: ["RxLoop", "RxLite"], swiftSettings: settings),
        .testTarget(
            name: "RxCurlTests",
            dependencies: [
                "RxClient", "RxCookies", "RxCurl", "RxHTTP", "RxLoop", "RxLite", "RxWebSocket", "TestServers",
                "download-probe", .httpTypes,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PlaygroundServerTests",
            dependencies: [
                "Playground", "PlaygroundServer", "RxHTTP", "RxNetworking", "RxTesting", "RxTestingSupport",
                "TestServers",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

extension Target.Dependency {
    static var httpTypes: Self { .product(name: "HTTPTypes", package: "swift-http-types") }
    static var structuredFields: Self {
        .product(name: "RawStructuredFieldValues", package: "swift-http-structured-headers")
    }
    static var logging: Self {
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"]))
    }
    static var inMemoryLogging: Self {
        .product(name: "InMemoryLogging", package: "swift-log", condition: .when(traits: ["Logging"]))
    }
    static var coreMetrics: Self {
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"]))
    }
    static var metricsTestKit: Self {
        .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"]))
    }
    static var serviceLifecycle: Self {
        .product(
            name: "ServiceLifecycle", package: "swift-service-lifecycle",
            condition: .when(traits: ["ServiceLifecycle"]))
    }
    static var unixSignals: Self {
        .product(
            name: "UnixSignals", package: "swift-service-lifecycle",
            condition: .when(traits: ["ServiceLifecycle"]))
    }
    static var serviceLifecycleTestKit: Self {
        .product(
            name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle",
            condition: .when(traits: ["ServiceLifecycle"]))
    }
    static var tracing: Self {
        .product(
            name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"]))
    }
    static var inMemoryTracing: Self {
        .product(
            name: "InMemoryTracing", package: "swift-distributed-tracing",
            condition: .when(traits: ["Tracing"]))
    }
    static var grdb: Self {
        .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["DiskCache"]))
    }
    static var flyingFox: Self { .product(name: "FlyingFox", package: "FlyingFox") }
    static var flyingSocks: Self { .product(name: "FlyingSocks", package: "FlyingFox") }
    static var inspectorFox: Self {
        .product(name: "FlyingFox", package: "FlyingFox", condition: .when(traits: ["Inspector"]))
    }
    static var inspectorSocks: Self {
        .product(name: "FlyingSocks", package: "FlyingFox", condition: .when(traits: ["Inspector"]))
    }
}
