import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

@Suite struct ProgressTests {
    let clock = VirtualScheduler()

    private func events(
        _ steps: [ScriptedTransport.Step]
    ) throws -> Observable<TransferEvent, NetworkError> {
        let transport = ScriptedTransport(on: clock) { _ in .init(steps) }
        return transport.send(Request(url: try #require(URL(string: "http://a.test"))))
    }

    static let steps: [ScriptedTransport.Step] =
        [
            .uploaded(bytes: 5, of: nil), .uploaded(bytes: 10, of: nil),
            .head(ResponseHead(status: .ok, headerFields: [.contentLength: "100"])),
        ]
        + (0..<100).flatMap { _ in [.wait(.milliseconds(1)), .chunk([0])] as [ScriptedTransport.Step] }
        + [.finish]

    @Test func anUploadIsCountedAsTheTransportDoes() throws {
        let recorder = Recorder(try events(Self.steps).uploadProgress(), on: clock)
        try clock.run()
        #expect(recorder.values == [TransferProgress(bytes: 5), TransferProgress(bytes: 10)])
        #expect(recorder.completion != nil)
    }

    @Test func whatIsReportedIsWhatTheTwoStreamsGive() throws {
        let stream = try events(Self.steps)
        let (uploads, downloads) = (
            Recorder(stream.uploadProgress(), on: clock), Recorder(stream.downloadProgress(), on: clock)
        )
        let log = Mutex<(up: [TransferProgress], down: [TransferProgress])>(([], []))
        let watched = stream.reporting { progress in
            log.withLock { $0.up.append(progress) }
        } download: { progress in
            log.withLock { $0.down.append(progress) }
        }
        let recorder = Recorder(watched, on: clock)
        try clock.run()
        #expect(log.withLock { $0.up } == uploads.values)
        #expect(log.withLock { $0.down } == downloads.values)
        #expect(downloads.values.last == TransferProgress(bytes: 100, expected: 100))
        #expect(downloads.values.count < 6)
        // All events pass unchanged.
        #expect(recorder.values.count == 2 + 1 + 100 + 1)
    }
}
