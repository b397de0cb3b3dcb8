import AsyncHTTPClient
import Foundation
import HTTPCases
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import Synchronization

/// The requests of the run, INFLIGHT at a time.
struct Run: Sendable {
    let arguments: Arguments
    let client: HTTPClient
    let measurement = Measurement()
    private let decoder = JSONDecoder()

    func all() async throws {
        let next = Counter(arguments.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<arguments.inFlight {
                group.addTask { while next.take() { measurement.add(bytes: try await one()) } }
            }
            try await group.waitForAll()
        }
    }

    private var request: HTTPClientRequest {
        var request = HTTPClientRequest(url: arguments.url.absoluteString)
        switch arguments.kind {
        case .post:
            request.method = .POST
            request.body = .bytes(arguments.content)
        case .upload:
            request.method = .PUT
            let file = FileChunks(path: arguments.file)
            request.body = .stream(file, length: .known(file.count))
        default: break
        }
        return request
    }

    private func one() async throws -> Int {
        if arguments.kind == .download { return try await download() }
        let request = request
        let response = try await client.execute(request, timeout: .minutes(5))
        guard (200...201).contains(response.status.code) else {
            throw Arguments.Invalid(description: "status \(response.status)")
        }
        switch arguments.kind {
        case .typed:
            let body = try await response.body.collect(upTo: 256 << 20)
            return try decoder.decode([Item].self, from: Data(body.readableBytesView)).count
        case .discard:
            var count = 0
            for try await chunk in response.body { count += chunk.readableBytes }
            return count
        default:
            let count = try await response.body.collect(upTo: 256 << 20).readableBytes
            return arguments.kind == .upload ? FileChunks(path: arguments.file).size : count
        }
    }

    private func download() async throws -> Int {
        let part = arguments.file + ".part"
        try? FileManager.default.removeItem(atPath: part)
        let delegate = try FileDownloadDelegate(path: part)
        let request = try HTTPClient.Request(url: arguments.url)
        let progress = try await client.execute(request: request, delegate: delegate).get()
        guard unsafe rename(part, arguments.file) == 0 else {
            throw Arguments.Invalid(description: "cannot rename \(part)")
        }
        return progress.receivedBytes
    }
}

/// Counts down to zero.
final class Counter: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    func take() -> Bool { left.subtract(1, ordering: .relaxed).newValue >= 0 }
}

do {
    let arguments = try Arguments(program: "AsyncHTTPClientBenchmark")
    var configuration = HTTPClient.Configuration()
    configuration.httpVersion = arguments.kind == .http2 ? .automatic : .http1Only
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = arguments.inFlight
    configuration.decompression = .enabled(limit: .none)
    if let path = arguments.caBundle {
        configuration.tlsConfiguration = .makeClientConfiguration()
        configuration.tlsConfiguration?.trustRoots = .file(path)
    }
    // A single thread, because the client runs on one core.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    let run = Run(arguments: arguments, client: client)
    try await run.all()
    run.measurement.report()
    try await client.shutdown()
    try await group.shutdownGracefully()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
