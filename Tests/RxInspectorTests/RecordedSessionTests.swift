#if Inspector
import Foundation
import Testing

@testable import RxInspector

/// The commands that Chrome's own developer tools have sent, as `Tests/inspector.sh` records them: the first line of a
/// file names the browser, and each other one is a command.
@Suite(.timeLimit(.minutes(2))) struct RecordedSessionTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "Sessions")

    private static var sessions: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.path()).filter {
                $0.hasSuffix(".jsonl")
            }
        }
    }

    /// Commands about what a program does not have.
    private static let unknown: Set<String> = ["ServiceWorker.setForceUpdateOnPageLoad"]

    @Test func thereAreRecordedSessions() throws { #expect(try !Self.sessions.isEmpty) }

    @Test(arguments: try sessions)
    func eachCommandIsAnswered(session: String) async throws {
        let text = try String(contentsOf: Self.folder.appending(path: session), encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.first?.contains("Chromium ") == true)
        #expect(lines.count > 50)
        let inspector = try await Inspector.start()
        let probe = FrontEndProbe(inspector)
        for line in lines.dropFirst() {
            let command = try #require(JSON(parsing: line))
            let method = try #require(command["method"]?.string)
            let reply = try await probe.exchange(line)
            #expect(reply["sessionId"] == command["sessionId"])
            switch reply["error"]?["code"] {
            case nil: #expect(reply["result"] != nil, "\(method)")
            // The recorded requests are others.
            case -32000: #expect(["Network.getResponseBody", "Network.getRequestPostData"].contains(method))
            case let code:
                #expect(code == -32601, "\(line)")
                #expect(Self.unknown.contains(method), "\(method) is not known")
            }
        }
        await inspector.stop()
    }
}
#endif
