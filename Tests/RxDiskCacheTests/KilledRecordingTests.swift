#if DiskCache
import Foundation
import HTTPTypes
import RxHTTP
import RxSimulation
import TestServers
import Testing

@Suite struct KilledRecordingTests {
    /// The system kills the process with the write that exceeds the size, so that every place in the file is tried.
    /// A recording that is killed in any kilobyte leaves the former cassette whole, or the new one.
    @Test(.timeLimit(.minutes(2)), arguments: [0, 1, 2, 3, 7, 11, 15, 19, 20, 21, 22, 64])
    func theFormerCassetteStaysWhole(kilobytes: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("login.har")
        let former = Cassette([
            Cassette.Exchange(
                url: "https://former.test/",
                events: [
                    Cassette.Event(.zero, .head(ResponseHead(status: .ok))), Cassette.Event(.zero, .finished),
                ])
        ])
        try former.write(to: path)
        let process = try ChildProcess(
            "/bin/bash",
            [
                "-c", #"ulimit -f "$0"; ulimit -c 0; exec "$@""#, "\(kilobytes)",
                ChildProcess.product("disk-cache-probe"), "record", path,
            ])
        let record = try await process.ended()
        let left = try Cassette(contentsOf: path)
        if record.ending == .exited(0) {
            #expect(kilobytes > 19)
            #expect(left.exchanges.map(\.url) == ["https://new.test/"])
        } else {
            #expect(kilobytes < 64)
            #expect(left.encoded == former.encoded)
        }
    }
}
#endif
