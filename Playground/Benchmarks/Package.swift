// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
]

// A package of its own, so that what the benchmarks compare with is nobody's dependency.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "HTTPBenchmark", targets: ["HTTPBenchmark"]),
        .executable(name: "CancelBenchmark", targets: ["CancelBenchmark"]),
    ],
    dependencies: [
        .package(name: "RxNetworking", path: "../..")
    ],
    targets: [
        .executableTarget(name: "HTTPBenchmark", dependencies: [.rxNetworking], swiftSettings: settings),
        .executableTarget(name: "CancelBenchmark", dependencies: [.rxNetworking], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

extension Target.Dependency {
    static var rxNetworking: Self { .product(name: "RxNetworking", package: "RxNetworking") }
}
