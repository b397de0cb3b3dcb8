import Foundation
import RxNetworking
import Synchronization
import TestServers
import Testing

/// A credential file that several processes share.
@Suite(.timeLimit(.minutes(2))) struct SharedCredentialTests {
    /// Accepts the last token until it expires, and each refresh token once.
    fileprivate final class TokenFamily: Sendable {
        struct Contents {
            var number = 0
            var isValid = false
            var logins = 0
            /// The first renewal gets no response.
            var swallowsRenewal = false
        }

        let contents = Mutex(Contents())
        /// The refresh tokens that have arrived.
        let sent = Board<[String]>([])
        let killing: Gate

        init() throws { killing = try Gate() }

        func answer(_ request: RawServer.Request) -> [RawServer.Step] {
            let place = request.target
            if place == "/token" {
                let token = request.text.split(separator: "=").last.map(String.init) ?? "-"
                sent.update { $0.append(token) }
                return contents.withLock { contents in
                    if contents.swallowsRenewal {
                        contents.swallowsRenewal = false
                        return [.wait(killing)]
                    }
                    return token == "r\(contents.number)" ? contents.issue() : [.respond(400)]
                }
            }
            return contents.withLock { contents in
                if place == "/login" {
                    contents.logins += 1
                    return contents.issue()
                }
                let isKnown =
                    contents.isValid && request.field("Authorization") == "Bearer t\(contents.number)"
                return [.respond(isKnown ? 200 : 401, body: "1")]
            }
        }
    }

    private let folder: TemporaryFolder
    private let server: RawServer
    private let family: TokenFamily

    init() async throws {
        folder = try TemporaryFolder()
        let family = try TokenFamily()
        self.family = family
        server = try RawServer { family.answer($0) }
        let first = Credential(token: "t0", refreshToken: "r0")
        try await CredentialFile(folder.file("credential.json")).save(first).value()
    }

    private func process() throws -> ChildProcess {
        try .isolated("session-probe", [server.baseURL, folder.file("credential.json")])
    }

    private func saved() async throws -> Credential? {
        try await CredentialFile(folder.file("credential.json")).load().value()
    }

    /// Three processes whose login expires at the same time send each refresh token once.
    @Test func together() async throws {
        let processes = try (0..<3).map { _ in try process() }
        for _ in 0..<10 {
            family.contents.withLock { $0.isValid = false }
            for process in processes { try process.write("/goods\n/goods\n") }
            for process in processes {
                #expect(try await process.nextLine() == "200")
                #expect(try await process.nextLine() == "200")
            }
        }
        #expect(family.sent.contents == (0..<10).map { "r\($0)" })
        #expect(family.contents.withLock { $0.logins } == 0)
        #expect(try await saved() == Credential(token: "t10", refreshToken: "r10"))
        for process in processes {
            process.closeInput()
            #expect(try await process.ended().ending == .exited(0))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["credential.json"])
    }

    /// A process that is killed while it renews gives the lock to the next one.
    @Test func killed() async throws {
        family.contents.withLock { $0.swallowsRenewal = true }
        let (first, second) = (try process(), try process())
        try first.write("/goods\n")
        _ = try await family.sent.until { $0.isEmpty ? nil : true }
        try second.write("/goods\n")
        try await first.kill()
        family.killing.open()
        #expect(try await second.nextLine() == "200")
        #expect(try await saved()?.token == "t1")
        #expect(family.contents.withLock { $0.logins } == 0)
    }
}

extension SharedCredentialTests.TokenFamily.Contents {
    fileprivate mutating func issue() -> [RawServer.Step] {
        number += 1
        isValid = true
        return [.respond(200, body: #"{"token":"t\#(number)","refresh":"r\#(number)"}"#)]
    }
}
