import Foundation
import TestServers
import Testing

/// The short run of the soak; `Tests/soak.sh` is the long one.
@Suite struct SoakTests {
    private struct Report: Decodable {
        let sent: Int
        let outcomes: [String: Int]
        let unexpected: [String: Int]
    }

    private struct Run {
        let status: Int32
        let line: Data
        let table: String
    }

    /// Waits on a thread of its own, so that other tests go on.
    private static func run(_ arguments: String...) async throws -> Run {
        try await withCheckedThrowingContinuation { continuation in
            do {
                _ = try JoinableThread { continuation.resume(with: Result { try runNow(arguments) }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private static func runNow(_ arguments: [String]) throws -> Run {
        let soak = Process()
        // Beside the tests.
        soak.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "soak")
        soak.arguments = arguments
        let (output, errors) = (Pipe(), Pipe())
        soak.standardOutput = output
        soak.standardError = errors
        try soak.run()
        let line = output.fileHandleForReading.readDataToEndOfFile()
        let table = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        soak.waitUntilExit()
        return Run(status: soak.terminationStatus, line: line, table: table)
    }

    @Test(.timeLimit(.minutes(3))) func twentyThousandRequestsWithFaultsAmongThem() async throws {
        let run = try await Self.run("20000", "7")
        // Its status says that memory and descriptors were flat, and that everything ended as it should.
        #expect(run.status == 0, "\(run.table)")
        let report = try JSONDecoder().decode(Report.self, from: run.line)
        #expect(report.sent == 20_000)
        #expect(report.outcomes.values.reduce(0, +) == 20_000)
        #expect(report.unexpected.isEmpty, "\(report.unexpected)")
        // All kinds of failure have been there.
        for outcome in [
            "200", "404", "503", "connectionLost", "emptyReply", "partialBody", "invalidResponse", "tooLarge",
            "firstByteTimeout", "idleTimeout", "attemptTimeout", "cancelled",
        ] {
            #expect((report.outcomes[outcome] ?? 0) > 0, "\(outcome)")
        }
    }
}
