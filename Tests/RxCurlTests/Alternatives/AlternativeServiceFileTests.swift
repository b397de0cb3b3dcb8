import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxLoop
import Synchronization
import TestServers
import Testing

@testable import RxCurl

/// The file from which the next process learns which origins support HTTP/3.
@Suite(.timeLimit(.minutes(1))) struct AlternativeServiceFileTests {
    private static let origin = AlternativeTable.HTTPSOrigin(host: "a.test", port: 443)
    private static let line = #"h2 a.test 443 h3 a.test 443 "20301231 23:59:59" 0 0"#

    private static func services(
        _ path: String, failures: Board<[NetworkError]> = Board([])
    ) -> AlternativeServices {
        AlternativeServices(
            path: path, onFailure: { error in failures.update { $0.append(error) } }, now: { 1_924_900_000 })
    }

    private func withLoop<Result>(_ body: (EventLoop) async throws -> Result) async throws -> Result {
        let loop = EventLoop(name: "test")
        defer { loop.shutDown() }
        return try await body(loop)
    }

    private func load(_ services: AlternativeServices, on loop: EventLoop) async {
        await withCheckedContinuation { continuation in
            services.whenLoaded(on: loop) { continuation.resume() }
        }
    }

    /// Waits until the file has the expected content.
    private func expect(
        _ folder: TemporaryFolder, on loop: EventLoop, _ isRight: (String) -> Bool
    ) async throws {
        while true {
            try Task.checkCancellation()
            let text = (try? folder.content("alternatives")).map { String(decoding: $0, as: UTF8.self) }
            if let text, isRight(text) { return }
            await loop.poll()
        }
    }

    @Test func whatIsLearntIsThereAgain() async throws {
        let folder = try TemporaryFolder()
        try await withLoop { loop in
            let services = Self.services(folder.file("alternatives"))
            await load(services, on: loop)
            for port in 443...450 {
                let origin = AlternativeTable.HTTPSOrigin(host: "a.test", port: port)
                services.take(#"h3=":\#(port)""#, from: origin, over: .http2, on: loop)
            }
            try await expect(folder, on: loop) { text in
                (443...450).allSatisfy { text.contains("h3 a.test \($0) ") }
            }
            let mode = try FileManager.default.attributesOfItem(atPath: folder.file("alternatives"))[
                .posixPermissions]
            #expect(mode as? Int == 0o600)
            #expect(try folder.names == ["alternatives"])
            let next = Self.services(folder.file("alternatives"))
            #expect(next.isAwaited)
            await load(next, on: loop)
            #expect(!next.isAwaited)
            #expect(next.offersHTTP3(Self.origin, needsName: true))
            // A withdrawn alternative is removed from the file, too.
            next.take("clear", from: Self.origin, over: .http3, on: loop)
            try await expect(folder, on: loop) {
                !$0.contains("h3 a.test 443 ") && $0.contains("h3 a.test 444 ")
            }
        }
    }

    @Test func aMisdirectedRequestRemovesTheEntry() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("alternatives", Array(Self.line.utf8))
        try await withLoop { loop in
            let services = Self.services(path)
            await load(services, on: loop)
            services.recordMisdirected(Self.origin, on: loop)
            try await expect(folder, on: loop) { !$0.contains("a.test") }
            // It is not used for a while if it is announced again.
            services.take(#"h3=":443""#, from: Self.origin, over: .http2, age: "7", on: loop)
            #expect(!services.offersHTTP3(Self.origin, needsName: true))
            try await expect(folder, on: loop) { $0.contains("h3 a.test 443 ") }
        }
    }

    @Test(arguments: [("86399", true), ("86400", false), ("-1", true), ("1, 2", true), ("", true)])
    func theAgeOfTheResponse(age: String, isOffered: Bool) async throws {
        try await withLoop { loop in
            let services = AlternativeServices(path: nil)
            services.take(#"h3=":443""#, from: Self.origin, over: .http2, age: age, on: loop)
            #expect(services.offersHTTP3(Self.origin, needsName: true) == isOffered)
        }
    }

    @Test func everybodyWaitsForTheOneReading() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("alternatives", Array(Self.line.utf8))
        try await withLoop { loop in
            let services = Self.services(path)
            let found = Board(0)
            for _ in 0..<100 {
                services.whenLoaded(on: loop) {
                    if services.offersHTTP3(Self.origin, needsName: true) { found.update { $0 += 1 } }
                }
            }
            _ = try await found.until { $0 == 100 ? true : nil }
        }
    }

    @Test func aFileThatIsNotThereIsNoFault() async throws {
        let folder = try TemporaryFolder()
        try await withLoop { loop in
            let failures = Board<[NetworkError]>([])
            let services = Self.services(folder.file("alternatives"), failures: failures)
            await load(services, on: loop)
            #expect(!services.offersHTTP3(Self.origin, needsName: true))
            #expect(failures.contents.isEmpty)
        }
    }

    @Test func aFileThatIsNotTrustedIsLeftAlone() async throws {
        let folder = try TemporaryFolder()
        let other = try folder.file("other", Array(Self.line.utf8))
        let path = folder.file("alternatives")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        try await withLoop { loop in
            let failures = Board<[NetworkError]>([])
            let services = Self.services(path, failures: failures)
            await load(services, on: loop)
            #expect(failures.contents.map(\.code) == [.untrustedFile])
            #expect(!services.offersHTTP3(Self.origin, needsName: true))
            services.take(#"h3=":443""#, from: Self.origin, over: .http2, on: loop)
            #expect(services.offersHTTP3(Self.origin, needsName: true))
            for _ in 0..<100 { await loop.poll() }
            let content = try folder.content("other")
            #expect(content == Array(Self.line.utf8))
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: path)
            #expect(target == other)
        }
    }

    @Test func aFolderThatIsNotThereIsReported() async throws {
        let folder = try TemporaryFolder()
        try await withLoop { loop in
            let failures = Board<[NetworkError]>([])
            let services = Self.services(folder.file("none/alternatives"), failures: failures)
            await load(services, on: loop)
            services.take(#"h3=":443""#, from: Self.origin, over: .http2, on: loop)
            let codes = try await failures.until { $0.isEmpty ? nil : $0.map(\.code) }
            #expect(codes == [.file])
        }
    }

    /// Two transports in a row, as in two processes.
    @Test(.enabled(if: LibcurlFeatures.running.hasHTTP3 && CaddyServer.isInstalled))
    func theFirstRequestOfTheNextTransportGoesOverHTTP3() async throws {
        let folder = try TemporaryFolder()
        let server = try await CaddyServer.shared()
        // After the first response further ones may come over HTTP/3.
        for (version, count) in [(HTTPVersion.http2, 1), (.http3, 4)] {
            try await withTransport(
                caBundlePath: server.certificatePath,
                configured: { $0.alternativeServicesPath = folder.file("alternatives") }
            ) { transport in
                let recordings = try (0..<count).map { _ in
                    Recording(transport.send(try .to(server.baseURL + "/echo")))
                }
                for recording in recordings {
                    let log = try await recording.ended()
                    #expect(log.metrics?.httpVersion == version)
                }
                try await expect(folder, on: transport.loop) { $0.contains("h3 localhost \(server.port) ") }
            }
        }
    }
}
