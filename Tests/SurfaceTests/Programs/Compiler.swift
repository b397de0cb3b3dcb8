import Foundation
import TestServers
import Testing

/// The Swift compiler, with the modules of this build.
struct Compiler {
    private let folder = URL(filePath: ChildProcess.product(""))
    let output: TemporaryFolder

    init() throws { output = try TemporaryFolder() }

    /// Compiles and links a program that uses RxNetworking, and returns its path.
    func program(_ files: [String]) async throws -> String {
        let path = output.file("program")
        let list = folder.appending(path: "download-probe.product/Objects.LinkFileList").path
        let objects = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n")
            // The main function of the probe would be a second one.
            .map(String.init).filter { !$0.contains("/download_probe.build/") }
        try await run(files + ["-o", path] + objects + Self.libraries)
        return path
    }

    /// Compiles the files without output.
    func typecheck(_ files: [String]) async throws {
        try await run(["-typecheck"] + files + ["-I", output.path])
    }

    /// How far the compiler goes: `typechecked` finds most mistakes; `analyzed` finds those about isolation, too, if all
    /// types are right.
    enum Stage: Sendable, CaseIterable {
        case typechecked, analyzed
    }

    /// The messages of the compiler for files with mistakes, by the names of the files.
    func messages(for files: [String], _ stage: Stage) async throws -> [String: [String]] {
        let output =
            switch stage {
            case .typechecked: ["-typecheck"]
            case .analyzed: ["-emit-sil", "-o", output.file("code.sil")]
            }
        // One module, since the compiler would stop after the first of several files.
        let record = try await compile(output + ["-whole-module-optimization"] + files)
        try #require(record.ending == .exited(1), "\(record.errorText)")
        return Self.messages(in: record.errorText)
    }

    /// The errors and warnings of each file, and the notes about them, which can be at other places.
    static func messages(in text: String) -> [String: [String]] {
        var messages: [String: [String]] = [:]
        var file = ""
        for line in text.split(separator: "\n") {
            guard
                let message = line.wholeMatch(
                    of: #/(?:.*/)?([^/]+\.swift):\d+:\d+: (error|warning|note): (.*)/#)
            else { continue }
            if message.2 != "note" { file = String(message.1) }
            messages[file, default: []].append(String(message.3))
        }
        return messages
    }

    /// Writes a source file.
    func file(_ code: String, named name: String = "code.swift") throws -> String {
        try output.file(name, Array(code.utf8))
    }

    /// Makes a module for later calls.
    func module(_ name: String, of files: [String]) async throws {
        try await run(
            files + [
                "-emit-module", "-parse-as-library", "-module-name", name, "-o",
                output.file("\(name).swiftmodule"),
            ])
    }

    private func run(_ arguments: [String]) async throws {
        let record = try await compile(arguments)
        try #require(record.ending == .exited(0), "\(record.errorText)")
    }

    private func compile(_ arguments: [String]) async throws -> ChildProcess.Record {
        let maps = try FileManager.default.contentsOfDirectory(
            atPath: SampleTests.root.appending(path: "Sources").path
        )
        .filter { $0.hasPrefix("C") }
        .flatMap { name -> [String] in
            let map = SampleTests.root.appending(path: "Sources/\(name)/module.modulemap").path
            return ["-Xcc", "-fmodule-map-file=\(map)"]
        }
        let modules = ["-I", folder.appending(path: "Modules").path]
        let compiler = try ChildProcess(
            "/usr/bin/env",
            ["swiftc", "-swift-version", "6", "-package-name", "shop"] + arguments + modules + maps)
        return try await compiler.ended()
    }

    private static let libraries = ["-lcurl", "-luv", "-lpsl", "-lz", "-lbrotlidec", "-lzstd"]
}

/// Whether the compiler can link the modules of the tests, which it cannot with a sanitizer.
let isPlainBuild = !ChildProcess.product("").contains("/.build-")
