import Foundation
import Testing

/// The code of RxTesting's tutorial: its last states are the tests in Samples/Tutorial, which run with these.
@Suite struct TestingTutorialTests {
    private static let tutorials = SampleTests.root.appending(
        path: "Sources/RxTesting/RxTesting.docc/Tutorials")
    private static let resources = tutorials.appending(path: "Resources")
    private static let samples = SampleTests.root.appending(path: "Tests/SurfaceTests/Samples/Tutorial")

    /// The files of a folder that are shown in steps, such as `CartTests-2.swift`.
    private static func steps() throws -> [(name: String, number: Int)] {
        try FileManager.default.contentsOfDirectory(atPath: resources.path).compactMap { file in
            guard let parts = file.wholeMatch(of: #/(\w+)-(\d+)\.swift/#)?.output else { return nil }
            return Int(parts.2).map { (String(parts.1), $0) }
        }
    }

    private static func names() throws -> [String] { Set(try steps().map(\.name)).sorted() }

    private static func text(_ folder: URL, _ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: "\(name).swift"), encoding: .utf8)
    }

    @Test func thereIsCode() throws {
        #expect(try Self.names().count >= 6)
    }

    @Test(arguments: try names())
    func theLastStepIsATestThatRuns(_ name: String) throws {
        let last = try #require(try Self.steps().filter { $0.name == name }.map(\.number).max())
        #expect(try Self.text(Self.resources, "\(name)-\(last)") == Self.text(Self.samples, name))
    }

    /// A test that is still being written has the lines of the finished one, without some.
    @Test(arguments: try names())
    func anEarlierStepHasLinesOfTheLast(_ name: String) throws {
        for step in try Self.steps() where step.name == name {
            var rest = try Self.text(Self.samples, name).components(separatedBy: "\n")[...]
            for line in try Self.text(Self.resources, "\(name)-\(step.number)").components(separatedBy: "\n")
            {
                let index = try #require(rest.firstIndex(of: line), "not in the last step: \(line)")
                rest = rest[(index + 1)...]
            }
        }
    }

    @Test func everyFileIsShown() throws {
        let page = try String(
            contentsOf: Self.tutorials.appending(path: "TestingClients.tutorial"), encoding: .utf8)
        for step in try Self.steps() {
            #expect(page.contains("file: \"\(step.name)-\(step.number).swift\""), "\(step) is not shown")
        }
    }
}
