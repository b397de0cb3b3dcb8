import FoundationEssentials
import RxNetworking
import TestServers
import Testing

@testable import RxTransfers

/// Downloads in parts from nginx and caddy.
@Suite(.enabled(if: TransferServers.areThere, TransferServers.note), .timeLimit(.minutes(5)))
struct RangeServerTests {
    private static let content = TransferServers.content(4_000_001)

    enum Server: String, CaseIterable, Sendable {
        case nginx, caddy

        /// The path of a file of the folder.
        var prefix: String { self == .caddy ? "/files/" : "/" }
    }

    static func start(_ server: Server, filesOf folder: TemporaryFolder) async throws -> Service {
        switch server {
        case .nginx: try await TransferServers.nginx(filesOf: folder)
        case .caddy: try await TransferServers.caddy(filesOf: folder)
        }
    }

    /// Four parts over a link that breaks: the content is the same, in no more bytes than the breaks cost.
    @Test(arguments: Server.allCases, [1, 4, 16])
    func brokenLink(server: Server, parts: Int) async throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("map", Self.content)
        let service = try await Self.start(server, filesOf: folder)
        let link = try LinkProxy(to: service.port, breakingAfter: [500_000, 900_000, 1_100_000])
        let own = try TemporaryFolder()
        var options = PartedDownload.Options()
        options.retries = 50
        options.backoff = .constant(.milliseconds(20))
        var events: [PartedDownload.Event] = []
        for try await event in Client(baseURL: link.baseURL).download(
            .get(server.prefix + "map"), to: own.file("map"), parts: .count(parts), options: options
        ).values(buffering: .unbounded) {
            events.append(event)
        }
        expectSame(try own.content("map"), Self.content)
        #expect(try own.names == ["map"])
        #expect(!events.contains { if case .startedOver = $0 { true } else { false } }, "\(events)")
        #expect(link.counts.contents.cuts == 3)
    }

    /// Without changes on the disk, another process continues.
    @Test(arguments: Server.allCases)
    func anotherRun(server: Server) async throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("map", Self.content)
        let service = try await Self.start(server, filesOf: folder)
        let link = try LinkProxy(to: service.port)
        let own = try TemporaryFolder()
        let url = link.baseURL + server.prefix + "map"
        let process = try ChildProcess.isolated("transfer-probe", ["download", url, own.file("map")])
        _ = try await link.counts.until { $0.downloaded > 1_000_000 ? true : nil }
        try await process.kill()
        let last = try await ChildProcess.isolated("transfer-probe", ["download", url, own.file("map")])
            .ended()
        #expect(last.text.contains("finished \(Self.content.count)"), "\(last.text.suffix(300))")
        expectSame(try own.content("map"), Self.content)
        #expect(try own.names == ["map"])
    }
}
