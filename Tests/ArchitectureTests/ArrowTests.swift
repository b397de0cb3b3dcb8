import Testing

/// The permitted imports. SwiftPM lets a target import what its dependencies depend on; these rules do not.
@Suite struct ArrowTests {
    /// Reads like the design: a module, and the modules of this package that it may import.
    static let arrows: [String: Set<String>] = [
        "RxLite": [],
        "RxJSON": [],
        "RxSQLite": [],
        "RxWebSocket": ["CZlib"],
        "RxHTTP": ["RxJSON", "RxLite"],
        "RxLoop": ["RxLite", "CLibuv"],
        "RxCurl": ["RxHTTP", "RxLoop", "RxLite", "CLibcurl", "CZlib", "CBrotli", "CZstd"],
        "RxCache": ["RxHTTP", "RxJSON", "RxLite"],
        "RxCookies": ["RxHTTP", "RxLite"],
        "RxHAR": ["RxHTTP", "RxWebSocket"],
        "RxParameters": ["RxHTTP", "RxJSON"],
        "RxClient": [
            "RxCache", "RxCookies", "RxHAR", "RxHTTP", "RxJSON", "RxLite", "RxParameters", "RxWebSocket",
        ],
        "RxNetworking": [
            "RxClient", "RxCache", "RxCookies", "RxHAR", "RxParameters", "RxCurl", "RxLoop", "RxHTTP",
            "RxLite", "RxWebSocket", "CLibpsl",
        ],
        "RxDiskCache": ["RxCache", "RxHTTP", "RxLite", "RxSQLite", "CZlib"],
        "RxInspector": ["RxCache", "RxClient", "RxHAR", "RxHTTP", "RxLite", "RxWebSocket"],
        "RxFleet": ["RxCache", "RxClient", "RxCurl", "RxHTTP", "RxLite", "RxLoop", "RxOutbox", "RxSQLite"],
        "RxTesting": ["RxHTTP", "RxJSON", "RxLite", "RxWebSocket"],
        "RxSimulation": ["RxHTTP", "RxJSON", "RxLite", "RxTesting", "RxWebSocket"],
        "RxAuth": ["RxClient", "RxHTTP", "RxLite", "RxLoop", "RxParameters"],
        "RxMetrics": ["RxClient", "RxFleet", "RxHTTP", "RxLite", "RxOutbox"],
        "RxTracing": ["RxClient", "RxHTTP", "RxLite"],
        "RxServices": ["RxClient", "RxInspector", "RxLite", "RxLoop", "RxOutbox"],
        "RxOutbox": ["RxClient", "RxHTTP", "RxJSON", "RxLite", "RxSQLite", "CZlib"],
        "RxTransfers": ["RxClient", "RxHTTP", "RxLite", "RxParameters"],
        "RxTestingSupport": ["RxHTTP", "RxLite", "RxSimulation", "RxTesting"],
    ]

    /// Modules of the toolchain and the system. RxLite has no use for Foundation.
    static let platform: Set<String> = [
        "Swift", "Synchronization", "FoundationEssentials", "Glibc", "Musl", "Darwin",
    ]

    /// The ecosystem's packages, and the modules that may use them.
    static let packages: [String: Set<String>] = [
        "HTTPTypes": [
            "RxWebSocket", "RxHTTP", "RxCache", "RxCookies", "RxHAR", "RxParameters", "RxCurl", "RxClient",
            "RxNetworking", "RxInspector", "RxTesting", "RxSimulation", "RxMetrics", "RxTracing", "RxAuth",
            "RxOutbox",
            "RxFleet", "RxTransfers",
        ],
        "CoreMetrics": ["RxMetrics"],
        "Tracing": ["RxTracing"],
        "ServiceLifecycle": ["RxServices"],
        "RawStructuredFieldValues": ["RxClient", "RxAuth", "RxTransfers"],
        "Crypto": ["RxAuth", "RxFleet"],
        "CryptoExtras": ["RxAuth"],
        "GRDB": ["RxDiskCache", "RxFleet", "RxOutbox", "RxSQLite"],
        "FlyingSocks": ["RxInspector"],
        "Logging": ["RxClient", "RxNetworking", "RxOutbox"],
        // Of the toolchain, for test targets only.
        "Testing": ["RxTestingSupport"],
    ]

    static let forbidden: Set<String> = [
        "Foundation", "FoundationNetworking", "Combine", "OpenCombine", "Dispatch", "RxSwift",
        "NIO", "NIOCore", "NIOPosix", "NIOHTTP1", "NIOSSL", "AsyncHTTPClient", "Testing", "XCTest",
    ]

    static func mayImport(_ module: String) -> Set<String> {
        guard let own = arrows[module] else { return [] }
        guard module != "RxLite" else { return platform.subtracting(["FoundationEssentials"]) }
        return own.union(platform).union(packages.filter { $0.value.contains(module) }.keys)
    }

    @Test func everyModuleHasItsLine() throws {
        let files = try SourceFile.all(in: "Sources")
        #expect(Set(files.map(\.module)) == Set(Self.arrows.keys))
    }

    @Test(arguments: arrows.keys.sorted())
    func importsFollowTheArrows(_ module: String) throws {
        let files = try SourceFile.all(in: "Sources/\(module)")
        #expect(!files.isEmpty)
        for file in files {
            for (imported, line) in file.imports where !Self.mayImport(module).contains(imported) {
                Issue.record("\(file.path):\(line): \(module) may not import \(imported)")
            }
        }
    }

    /// A permission that nothing uses would admit an import that nobody has considered.
    @Test(arguments: arrows.keys.sorted())
    func everyPermissionIsUsed(_ module: String) throws {
        let imported = Set(try SourceFile.all(in: "Sources/\(module)").flatMap { $0.imports.map(\.module) })
        let permitted = Self.packages.filter { $0.value.contains(module) }.keys
        #expect(Self.arrows[module, default: []].union(permitted).subtracting(imported).isEmpty)
    }

    @Test func nothingForbiddenIsImported() throws {
        for file in try SourceFile.all(in: "Sources") {
            let isAllowed = Self.mayImport(file.module)
            for (imported, line) in file.imports
            where Self.forbidden.contains(imported) && !isAllowed.contains(imported) {
                Issue.record("\(file.path):\(line): \(imported) has no place in Sources")
            }
        }
    }

    @Test func theArrowsHaveNoCircle() {
        var open = Self.arrows.mapValues { $0.filter { Self.arrows[$0] != nil } }
        while let leaf = open.first(where: { $0.value.isEmpty })?.key {
            open[leaf] = nil
            open = open.mapValues { $0.subtracting([leaf]) }
        }
        #expect(open.isEmpty)
    }

    @Test(
        arguments: [
            ("import A", ["A"]), ("public import A", ["A"]), ("@_exported public import A", ["A"]),
            ("    @testable import A // why", ["A"]), ("import struct A.B", ["A"]), ("import A.B", ["A"]),
            ("// import A", []), ("let text = \"import A\"", []), ("let important = 1", []),
            ("#if canImport(A)", []), ("internal import func A.b", ["A"]),
            ("@preconcurrency import A", ["A"]),
        ] as [(String, [String])])
    func importLinesAreRead(line: String, modules: [String]) {
        #expect(SourceFile(path: "Sources/X/Y.swift", text: line).imports.map(\.module) == modules)
    }
}
