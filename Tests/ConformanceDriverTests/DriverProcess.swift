import Foundation
import Testing

/// The driver as a child process.
final class DriverProcess {
    private let process = Process()
    private let input = Pipe()
    private let lines: AsyncStream<String>
    private var iterator: AsyncStream<String>.Iterator
    /// Answers that were read while another was waited for.
    private var waiting: [Answer] = []

    init(_ arguments: String...) throws {
        let folder = try #require(Bundle.main.executableURL).deletingLastPathComponent()
        process.executableURL = folder.appending(path: "conformance-driver")
        process.arguments = arguments
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        iterator = lines.makeAsyncIterator()
        try process.run()
        // A thread of its own reads, since reading blocks.
        Thread {
            var rest = Data()
            while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                rest += data
                let parts = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                for part in parts.dropLast() { continuation.yield(String(decoding: part, as: UTF8.self)) }
                rest = Data(parts.last ?? Data())
            }
            continuation.finish()
        }
        .start()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        if process.isRunning { process.terminate() }
    }

    /// Sends one line.
    func send(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Sends a command.
    func send(_ op: String, _ id: Int, _ members: [String: Any] = [:]) throws {
        let command = members.merging(["op": op, "id": id]) { $1 }
        try send(String(decoding: JSONSerialization.data(withJSONObject: command), as: UTF8.self))
    }

    /// The next answer, to `id` if one is given.
    func answer(to id: Int? = nil) async throws -> Answer {
        if let index = waiting.firstIndex(where: { id == nil || $0.id == id.map(Double.init) }) {
            return waiting.remove(at: index)
        }
        while let line = await iterator.next() {
            let answer = try JSONDecoder().decode(Answer.self, from: Data(line.utf8))
            if id == nil || answer.id == id.map(Double.init) { return answer }
            waiting.append(answer)
        }
        throw Ended()
    }

    /// Sends a fetch and gives its answer.
    func fetch(_ id: Int, _ url: String, _ members: [String: Any] = [:]) async throws -> Answer {
        try send("fetch", id, members.merging(["url": url]) { $1 })
        return try await answer(to: id)
    }

    /// Ends the input and gives what is answered until the driver has ended.
    func end() async throws -> (answers: [Answer], status: Int32) {
        try input.fileHandleForWriting.close()
        var answers = waiting
        while let answer = try? await answer() { answers.append(answer) }
        process.waitUntilExit()
        return (answers, process.terminationStatus)
    }

    /// Kills the driver, as a crash would.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The driver has ended.
    struct Ended: Error {}
}

/// One line of output.
struct Answer: Decodable, Sendable {
    let id: Double?
    let status: Int?
    let statusText: String?
    let url: String?
    let headers: [[String]]?
    let bodyBase64: String?
    let interim: [Interim]?
    let fromCache: Bool?
    let error: String?
    let message: String?
    let code: String?
    let page: Int?
    let items: Int?
    let end: Bool?
    let sse: String?
    let type: String?
    let data: String?
    let lastEventId: String?
    let reconnecting: Bool?

    struct Interim: Decodable, Sendable {
        let status: Int
        let headers: [[String]]

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            status = try container.decode(Int.self)
            headers = try container.decode([[String]].self)
        }
    }

    var body: [UInt8]? { bodyBase64.flatMap { Data(base64Encoded: $0) }.map(Array.init) }
    var text: String? { body.map { String(decoding: $0, as: UTF8.self) } }

    func values(_ name: String) -> [String]? {
        headers?.filter { $0[0].lowercased() == name.lowercased() }.map { $0[1] }
    }
}
