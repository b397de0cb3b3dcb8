import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxTesting
import Synchronization
import Testing

/// The environment of downloads under test: a scripted server and files in memory.
struct DownloadFixture {
    static let content = (0..<50).map { UInt8($0) }
    static let other = (0..<60).map { UInt8(200 - $0) }

    let clock = VirtualScheduler()
    let server = RangeServer(content)
    let files: MemoryFileSystem
    let transport: ScriptedTransport

    init() {
        files = MemoryFileSystem(on: clock, latency: .milliseconds(1))
        let server = server
        transport = ScriptedTransport(on: clock, files: files) { server.answer($0) }
    }

    func client(retries: Int = 0) -> Client {
        var configuration = ClientConfiguration(baseURL: "http://shop.test")
        configuration.options.retry = .exponentialBackoff(
            maxRetries: retries, backoff: .constant(.seconds(1)))
        return Client(configuration: configuration, transport: transport)
    }

    func start(
        retries: Int = 0, _ call: InlineEndpoint = InlineEndpoint(.get, "/f"), ignoring: Set<String> = []
    ) -> Recorder<DownloadEvent, NetworkError> {
        Recorder(
            client(retries: retries).download(call, to: "/d/f", ignoringQuery: ignoring), on: clock)
    }

    func expectDone(
        _ recorder: Recorder<DownloadEvent, NetworkError>, _ content: [UInt8] = content,
        resumedFrom offset: Int? = nil
    ) {
        #expect(recorder.isFinished, "\(String(describing: recorder.failure))")
        #expect(files["/d/f"] == content)
        #expect(files.paths == ["/d/f"])
        guard case .finished(let file) = recorder.values.last else {
            Issue.record("the last value is not the file")
            return
        }
        #expect(file.size == Int64(content.count))
        #expect(file.path == "/d/f")
        if let offset { #expect(file.resumedFrom == Int64(offset)) }
        #expect(recorder.progress.last == TransferProgress(bytes: file.size, expected: file.size))
        if transport.requests.count == 1 {
            #expect(recorder.progress.map(\.bytes) == recorder.progress.map(\.bytes).sorted())
        }
    }

    func ranges() -> [String?] { transport.requests.map { $0.headerFields[.range] } }
}

extension Recorder where Element == DownloadEvent {
    var progress: [TransferProgress] {
        values.compactMap { if case .progress(let progress) = $0 { progress } else { nil } }
    }
}
