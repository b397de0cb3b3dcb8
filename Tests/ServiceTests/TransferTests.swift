import Foundation
import RxNetworking
import TestServers
import Testing

/// Large files, with processes that are killed midway.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(5))) struct TransferTests {
    /// A file of `count` MiB, with no two equal pages.
    private func file(_ name: String, mebibytes count: Int, in folder: TemporaryFolder) throws -> String {
        let path = try folder.file(name, [])
        let handle = try #require(FileHandle(forWritingAtPath: path))
        var block = [UInt8](repeating: 0, count: 1 << 20)
        for index in 0..<count {
            for page in 0..<256 {
                let number = UInt64(index << 8 | page) &* 0x9E37_79B9_7F4A_7C15
                for byte in 0..<8 {
                    block[page << 12 | byte] = UInt8(truncatingIfNeeded: number >> (8 * byte))
                }
            }
            try handle.write(contentsOf: block)
        }
        return path
    }

    private func sha256(_ path: String) async throws -> String {
        let sum = try ChildProcess("/usr/bin/env", ["sha256sum", path])
        return String(try await sum.ended().text.prefix(64))
    }

    private struct Receipt: Decodable, Sendable {
        let title: String
        let name: String
        let size: Int64
        let sha256: String
    }

    private struct Upload: Endpoint {
        typealias Output = Receipt
        let path = "/upload"
        let method = HTTPRequest.Method.post
        let file: String
        var parameters: Parameters {
            .multipart([.text("title", "Grüner Tee"), .file("file", file, fileName: "tee \"1\".bin")])
        }
        let options = RequestOptions(timeouts: Timeouts(idle: .seconds(60)))
    }

    /// 200 MiB arrive unchanged in a multipart form, with their progress.
    @Test func upload() async throws {
        let folder = try TemporaryFolder()
        let path = try file("upload.bin", mebibytes: 200, in: folder)
        let live = try await Service.live()
        var progress: [TransferProgress] = []
        var receipt: Receipt?
        let events = Client(baseURL: live.baseURL).progress(of: Upload(file: path))
        for try await event in events.values(buffering: .unbounded) {
            switch event {
            case .uploaded(let value): progress.append(value)
            case .downloaded: break
            case .finished(let answer): receipt = answer.output
            }
        }
        #expect(receipt?.title == "Grüner Tee")
        #expect(receipt?.size == 200 << 20)
        #expect(try await receipt?.sha256 == sha256(path))
        #expect(progress.count > 2)
        #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.bytes <= $1.bytes })
        #expect(progress.last?.fraction == 1)
        #expect(progress.allSatisfy { $0.expected == progress.last?.bytes })
    }

    /// A download survives the death of its client, then of its server.
    @Test func download() async throws {
        let (source, target) = (try TemporaryFolder(), try TemporaryFolder())
        let path = try file("large.bin", mebibytes: 600, in: source)
        let server = try await Service.caddy(filesOf: source)
        let url = server.baseURL + "/files/large.bin"
        func client() throws -> ChildProcess {
            try ChildProcess(ChildProcess.product("download-probe"), [url, target.file("large.bin")])
        }

        let first = try client()
        while let line = try await first.nextLine(), line == "progress 0" {}
        try await first.kill()
        #expect(try !target.names.contains("large.bin"))
        #expect(try target.names.contains("large.bin.part"))

        let second = try client()
        _ = try await second.nextLine()
        try await server.kill()
        #expect(try await second.ended().ending == .exited(1))
        #expect(try !target.names.contains("large.bin"))

        let successor = try await Service.caddy(filesOf: source, on: server.port)
        let third = try client()
        var last = ""
        while let line = try await third.nextLine() { last = line }
        let words = last.split(separator: " ")
        #expect(words.first == "finished")
        #expect(words.dropFirst().first == "\(600 << 20)")
        #expect(words.last.flatMap { Int($0) } ?? 0 > 0, "it started over: \(last)")
        #expect(try target.names == ["large.bin"])
        #expect(try await sha256(target.file("large.bin")) == sha256(path))
        let partial = try await successor.requests(to: "/files/", atLeast: 1)
        #expect(partial.map(\.status) == [206])
    }
}
