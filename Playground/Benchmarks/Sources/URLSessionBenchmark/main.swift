import Foundation
import FoundationNetworking
import HTTPCases
import Synchronization

/// The requests of the run, INFLIGHT at a time.
struct Run: Sendable {
    let arguments: Arguments
    let session: URLSession
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

    private func one() async throws -> Int {
        var request = URLRequest(url: arguments.url, timeoutInterval: 300)
        switch arguments.kind {
        case .get, .waiting, .http2: return try check(await session.data(for: request)).count
        case .typed:
            return try decoder.decode([Item].self, from: check(await session.data(for: request))).count
        case .post:
            request.httpMethod = "POST"
            request.httpBody = Data(arguments.content)
            return try check(await session.data(for: request)).count
        case .discard: return try await Discarding.run(request)
        case .download:
            let (file, response) = try await session.download(for: request)
            _ = try check((Data(), response))
            guard unsafe rename(file.path, arguments.file) == 0 else {
                throw Arguments.Invalid(description: "cannot rename \(file.path)")
            }
            return Int(response.expectedContentLength)
        case .upload:
            request.httpMethod = "PUT"
            let file = URL(fileURLWithPath: arguments.file)
            _ = try check(await session.upload(for: request, fromFile: file))
            return try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        }
    }

    private func check(_ answer: (Data, URLResponse)) throws -> Data {
        guard let status = (answer.1 as? HTTPURLResponse)?.statusCode, (200...201).contains(status) else {
            throw Arguments.Invalid(description: "\(answer.1)")
        }
        return answer.0
    }
}

/// Counts down to zero.
final class Counter: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    func take() -> Bool { left.subtract(1, ordering: .relaxed).newValue >= 0 }
}

/// Counts the bytes of one response and keeps none.
final class Discarding: NSObject, URLSessionDataDelegate, Sendable {
    private let count = Atomic<Int>(0)
    private let continuation: CheckedContinuation<Int, any Error>

    private init(_ continuation: CheckedContinuation<Int, any Error>) { self.continuation = continuation }

    /// Uses a separate session: on Linux a task calls only the delegate of its session.
    static func run(_ request: URLRequest) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let session = URLSession(
                configuration: .ephemeral, delegate: Discarding(continuation), delegateQueue: nil)
            session.dataTask(with: request).resume()
            session.finishTasksAndInvalidate()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count.add(data.count, ordering: .relaxed)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error { return continuation.resume(throwing: error) }
        continuation.resume(returning: count.load(ordering: .relaxed))
    }
}

do {
    let arguments = try Arguments(program: "URLSessionBenchmark")
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = arguments.inFlight
    configuration.urlCache = nil
    let run = Run(arguments: arguments, session: URLSession(configuration: configuration))
    try await run.all()
    run.measurement.report()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
