// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Shop",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Where RxNetworking is; for a copy of this folder, adjust the path.
        .package(name: "RxNetworking", path: "../..")
    ],
    targets: [
        .target(name: "Shop", dependencies: [.product(name: "RxNetworking", package: "RxNetworking")]),
        .executableTarget(name: "App", dependencies: ["Shop"]),
    ]
)
