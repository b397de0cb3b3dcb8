import Foundation
import TestServers

/// The driver as a child process.
final class DriverProcess {
    private let process: ChildProcess
    /// Answers that were read while waiting for another one.
    private var waiting: [Answer] = []

    init(_ arguments: String...) throws {
        process = try ChildProcess(ChildProcess.product("conformance-driver"), arguments)
    }

    /// Sends one line.
    func send(_ line: String) throws { try process.write(line + "\n") }

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
        while let line = try await process.nextLine() {
            let answer = try JSONDecoder().decode(Answer.self, from: Data(line.utf8))
            if id == nil || answer.id == id.map(Double.init) { return answer }
            waiting.append(answer)
        }
        throw Ended()
    }

    /// Sends a fetch and returns its answer.
    func fetch(_ id: Int, _ url: String, _ members: [String: Any] = [:]) async throws -> Answer {
        try send("fetch", id, members.merging(["url": url]) { $1 })
        return try await answer(to: id)
    }

    /// Ends the input and returns the answers until the driver has ended.
    func end() async throws -> (answers: [Answer], ending: ChildProcess.Ending?) {
        process.closeInput()
        var answers = waiting
        while let answer = try? await answer() { answers.append(answer) }
        return (answers, try await process.ended().ending)
    }

    /// Kills the driver, as a crash would.
    func kill() async throws { try await process.kill() }

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
