import Foundation
import TestServers
import Testing

/// The programs that README shows as a whole `main.swift` compile unchanged, run, and print the documented
/// output.
@Suite(.enabled(if: isPlainBuild)) struct ReadMeProgramTests {
    @Test(arguments: try Program.all(in: "README.md"))
    func theProgramPrintsWhatThePageSays(_ program: Program) async throws {
        let server = try RawServer { request in
            let body = request.target == "/v1/goods/7" ? #"{"id":7,"name":"green tea"}"# : ""
            return [.respond(body.isEmpty ? 404 : 200, ["Content-Type": "application/json"], body: body)]
        }
        let compiler = try Compiler()
        let code = program.code.replacing("https://api.example.com", with: server.baseURL)
        let main = try compiler.output.file("main.swift", Array(code.utf8))
        let record = try await ChildProcess(compiler.program([main])).ended()
        #expect(record.ending == .exited(0), "\(record.errorText)")
        #expect(record.text == program.output)
    }

    @Test func aDebugBuildWritesAnUnhandledFailureToTheStandardError() async throws {
        let compiler = try Compiler()
        let code = """
            import RxLite
            struct Late: Error {}
            Observable<Int, Late>.fail(Late()).subscribe { print($0) }
            print("end")
            """
        let main = try compiler.output.file("main.swift", Array(code.utf8))
        let record = try await ChildProcess(compiler.program([main])).ended()
        #expect(record.text == "end\n")
        let report = "Observable<Int, Late> failed, and its subscription has no 'onFailure': Late()\n"
        #expect(record.errorText.hasSuffix("main.swift:3: \(report)"), "\(record.errorText)")
    }

    @Test func thereArePrograms() throws {
        let lines = try String(contentsOf: SampleTests.root.appending(path: "README.md"), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        #expect(try !Program.all(in: "README.md").isEmpty)
        #expect(lines.prefix(12).contains { $0.hasPrefix("print(") }, "no program within the first 12 lines")
    }

    @Test func programsAreFound() {
        let page = """
            In `main.swift`:

            ```swift
            print(1)
            ```

            It prints:

            ```
            1
            ```

            ```swift
            print(2)
            ```
            """
        let programs = Program.programs(in: page)
        #expect(programs.map(\.code) == ["print(1)\n"])
        #expect(programs.map(\.output) == ["1\n"])
    }
}

/// A whole `main.swift` of a page, and its output.
struct Program: CustomStringConvertible {
    let code: String
    let output: String

    var description: String { code }

    static func all(in document: String) throws -> [Program] {
        programs(in: try String(contentsOf: SampleTests.root.appending(path: document), encoding: .utf8))
    }

    /// The blocks after a paragraph that names `main.swift`, each with the block after it that has no
    /// language.
    static func programs(in page: String) -> [Program] {
        page.matches(
            of: #/`main\.swift`[^\n]*:\n\n```swift\n(.*?)```\n[^`]*```\n(.*?)```/#.dotMatchesNewlines()
        )
        .map { Program(code: String($0.1), output: String($0.2)) }
    }
}
