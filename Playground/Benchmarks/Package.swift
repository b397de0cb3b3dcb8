// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that what the benchmarks compare with is nobody's dependency.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "HTTPBenchmark", targets: ["HTTPBenchmark"])
    ],
    dependencies: [
        .package(name: "RxNetworking", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "HTTPBenchmark",
            dependencies: [.product(name: "RxNetworking", package: "RxNetworking")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .strictMemorySafety(),
            ])
    ],
    swiftLanguageModes: [.v6]
)
