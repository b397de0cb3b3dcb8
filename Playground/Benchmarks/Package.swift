// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

// A separate package, so that the frameworks in the comparisons do not become dependencies of RxNetworking.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "HTTPBenchmark", targets: ["HTTPBenchmark"]),
        .executable(name: "AsyncHTTPClientBenchmark", targets: ["AsyncHTTPClientBenchmark"]),
        .executable(name: "URLSessionBenchmark", targets: ["URLSessionBenchmark"]),
        .executable(name: "CancelBenchmark", targets: ["CancelBenchmark"]),
        .executable(name: "APIBenchmark", targets: ["APIBenchmark"]),
        .executable(name: "StreamsBenchmark", targets: ["StreamsBenchmark"]),
        .executable(name: "SigningBenchmark", targets: ["SigningBenchmark"]),
        .executable(name: "TestingBenchmark", targets: ["TestingBenchmark"]),
        .executable(name: "WebSocketBenchmark", targets: ["WebSocketBenchmark"]),
        .executable(name: "NIOWebSocketBenchmark", targets: ["NIOWebSocketBenchmark"]),
        .executable(name: "FleetBenchmark", targets: ["FleetBenchmark"]),
    ],
    dependencies: [
        .package(
            name: "RxNetworking", path: "../..", traits: ["Auth", "Fleet", "Inspector", "Metrics", "Tracing"]),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", exact: "0.14.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
    ],
    targets: [
        .target(name: "HTTPCases", swiftSettings: settings),
        .executableTarget(
            name: "HTTPBenchmark", dependencies: [.rxNetworking, "HTTPCases"], swiftSettings: settings),
        .executableTarget(
            name: "AsyncHTTPClientBenchmark",
            dependencies: [
                "HTTPCases", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "URLSessionBenchmark", dependencies: ["HTTPCases"], swiftSettings: settings),
        .executableTarget(name: "CancelBenchmark", dependencies: [.rxNetworking], swiftSettings: settings),
        .executableTarget(
            name: "FleetBenchmark",
            dependencies: [.rxNetworking, .product(name: "RxFleet", package: "RxNetworking")],
            swiftSettings: settings),
        .target(name: "CMallocCount"),
        .executableTarget(
            name: "WebSocketBenchmark", dependencies: [.rxNetworking, "HTTPCases"],
            swiftSettings: settings),
        .executableTarget(
            name: "NIOWebSocketBenchmark",
            dependencies: [
                "HTTPCases",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "SigningBenchmark",
            dependencies: [
                .rxNetworking, "HTTPCases", .product(name: "RxAuth", package: "RxNetworking"),
                .product(name: "RxTesting", package: "RxNetworking"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "TestingBenchmark",
            dependencies: [
                .rxNetworking, .product(name: "RxSimulation", package: "RxNetworking"),
                .product(name: "RxTesting", package: "RxNetworking"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "APIBenchmark",
            dependencies: [
                .rxNetworking, "HTTPCases", "CMallocCount",
                .product(name: "RxInspector", package: "RxNetworking"),
                .product(name: "RxMetrics", package: "RxNetworking"),
                .product(name: "RxTracing", package: "RxNetworking"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "StreamsBenchmark",
            dependencies: [
                .rxNetworking, "CMallocCount",
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "OpenCombineDispatch", package: "OpenCombine"),
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

extension Target.Dependency {
    static var rxNetworking: Self { .product(name: "RxNetworking", package: "RxNetworking") }
}
