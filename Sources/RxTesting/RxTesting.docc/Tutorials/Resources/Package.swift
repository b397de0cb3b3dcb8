// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Shop",
    platforms: [.macOS(.v15)],
    dependencies: [
        // Where RxNetworking is; adjust the path.
        .package(name: "RxNetworking", path: "../RxNetworking")
    ],
    targets: [
        .target(name: "Shop", dependencies: [.product(name: "RxNetworking", package: "RxNetworking")]),
        .testTarget(
            name: "ShopTests",
            dependencies: [
                "Shop",
                .product(name: "RxTesting", package: "RxNetworking"),
                .product(name: "RxTestingSupport", package: "RxNetworking"),
            ]),
    ]
)
