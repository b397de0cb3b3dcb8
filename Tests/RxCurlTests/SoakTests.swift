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

    @Test(.timeLimit(.minutes(3))) func twentyThousandRequestsWithFaultsAmongThem() async throws {
        let soak = try ChildProcess(ChildProcess.product("soak"), ["20000", "7"])
        let run = try await soak.ended()
        // Its status reports that memory and descriptors were constant, and that every stream ended
        // correctly.
        #expect(run.ending == .exited(0), "\(run.errorText)")
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output))
        #expect(report.sent == 20_000)
        #expect(report.outcomes.values.reduce(0, +) == 20_000)
        #expect(report.unexpected.isEmpty, "\(report.unexpected)")
        // All kinds of failure have occurred.
        for outcome in [
            "200", "404", "503", "connectionLost", "emptyReply", "partialBody", "invalidResponse", "tooLarge",
            "firstByteTimeout", "idleTimeout", "attemptTimeout", "cancelled",
        ] {
            #expect((report.outcomes[outcome] ?? 0) > 0, "\(outcome)")
        }
    }
}
