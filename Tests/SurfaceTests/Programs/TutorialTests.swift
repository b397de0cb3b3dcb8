import Foundation
import TestServers
import Testing

/// The code of the tutorials compiles, and leads to the package in Playground/Template, which is built and
/// tested with every change.
@Suite struct TutorialTests {
    private static let tutorials = SampleTests.root
        .appending(path: "Sources/RxNetworking/RxNetworking.docc/Tutorials")
    private static let resources = tutorials.appending(path: "Resources")
    private static let template = SampleTests.root.appending(path: "Playground/Template")

    /// The last state of each file.
    private static let results = [
        "Test-Package.swift": "Package.swift",
        "Shop-GoodsSearch.swift": "Sources/Shop/GoodsSearch.swift",
        "Shop-ClientConfiguration.swift": "Sources/Shop/ClientConfiguration+Shop.swift",
        "App-4-main.swift": "Sources/App/main.swift",
        "Test-3-GoodsSearchTests.swift": "Tests/ShopTests/GoodsSearchTests.swift",
    ]

    @Test(arguments: results.keys.sorted())
    func theLastStepIsTheTemplate(_ name: String) throws {
        let result = try #require(Self.results[name])
        #expect(
            try Data(contentsOf: Self.resources.appending(path: name))
                == Data(contentsOf: Self.template.appending(path: result)))
    }

    /// A test that is still being written has the lines of the finished one, without some.
    @Test(arguments: ["Test-1-GoodsSearchTests.swift", "Test-2-GoodsSearchTests.swift"])
    func anEarlierStepHasLinesOfTheLast(_ name: String) throws {
        var rest = try Self.lines("Test-3-GoodsSearchTests.swift")[...]
        for line in try Self.lines(name) {
            let index = try #require(rest.firstIndex(of: line), "not in the last step: \(line)")
            rest = rest[(index + 1)...]
        }
    }

    @Test(
        .enabled(if: isPlainBuild), arguments: ["App-1-main.swift", "App-2-main.swift", "App-3-main.swift"])
    func theStepCompiles(_ name: String) async throws {
        try await Compiler().typecheck([Self.resources.appending(path: name).path])
    }

    @Test(.enabled(if: isPlainBuild)) func theLastStepCompiles() async throws {
        let compiler = try Compiler()
        try await compiler.module(
            "Shop",
            of: ["Shop-GoodsSearch.swift", "Shop-ClientConfiguration.swift"]
                .map { Self.resources.appending(path: $0).path })
        try await compiler.typecheck([Self.resources.appending(path: "App-4-main.swift").path])
    }

    @Test func everyFileIsShown() throws {
        let pages = try FileManager.default.contentsOfDirectory(
            at: Self.tutorials, includingPropertiesForKeys: nil
        )
        .filter { $0.pathExtension == "tutorial" }.map { try String(contentsOf: $0, encoding: .utf8) }
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.resources.path)
            .filter { $0.hasSuffix(".swift") }
        for file in files {
            #expect(pages.contains { $0.contains("file: \"\(file)\"") }, "\(file) is not shown")
        }
    }

    private static func lines(_ name: String) throws -> [String] {
        try String(contentsOf: resources.appending(path: name), encoding: .utf8)
            .components(separatedBy: "\n")
    }
}
