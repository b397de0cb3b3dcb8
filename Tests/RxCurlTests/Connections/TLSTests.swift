import FoundationEssentials
import HTTPTypes
import RxHTTP
import TestServers
import Testing

@testable import RxCurl

/// Verification of servers, and the errors for those that fail it.
@Suite(.timeLimit(.minutes(1))) struct TLSTests {
    typealias Configure = (inout TLSConfiguration) throws -> Void

    private let server: NginxServer

    init() throws { server = try .shared() }

    /// Sends a request to one of the names in the server's certificate, trusting its authority.
    private func ask(
        _ host: String, port: UInt16? = nil, count: Int = 1, _ configure: Configure = { _ in }
    ) async throws -> Recording.Log {
        let port = port ?? server.certificatePort
        var tls = TLSConfiguration()
        tls.caBundlePath = server.authorityPath
        try configure(&tls)
        return try await withTransport(configured: {
            $0.tls = tls
            $0.hostOverrides = [.init(host: host, port: Int(port), addresses: ["127.0.0.1"])]
        }) { transport in
            for _ in 1..<count {
                _ = try await Recording(transport.send(try .to("https://\(host):\(port)/"))).ended()
            }
            return try await Recording(transport.send(try .to("https://\(host):\(port)/"))).ended()
        }
    }

    private func expect(_ log: Recording.Log, fails failure: NetworkError.TLSFailure?) throws {
        let error = try #require(log.error)
        #expect(error.code == .tls)
        #expect(error.tlsFailure == failure)
        #expect(error.isUnsent)
        #expect(error.message.hasSuffix("."))
        #expect(error.details?.isEmpty == false)
        if let failure { #expect("\(error)".contains("[\(failure.rawValue)]")) }
    }

    private func pin() throws -> String {
        let text = try String(contentsOf: URL(filePath: server.pinPath), encoding: .utf8)
        return "sha256//" + text.split(separator: "\n")[0]
    }

    @Test func whatIsTrusted() async throws {
        let log = try await ask("good.test")
        #expect(log.error == nil)
        #expect(String(decoding: log.body, as: UTF8.self) == "good.test TLSv1.3 ")
    }

    @Test(
        arguments: [
            ("expired.test", .expired), ("future.test", .notYetValid), ("wrong.test", .hostMismatch),
            ("unknown.test", .unknownAuthority), ("selfsigned.test", .selfSigned),
        ] as [(String, NetworkError.TLSFailure)])
    func whatIsNot(host: String, failure: NetworkError.TLSFailure) async throws {
        // GnuTLS does not tell the two apart.
        let isOneOfTwo =
            failure == .selfSigned && LibcurlFeatures.running.tlsBackend?.hasPrefix("GnuTLS") == true
        let failure = isOneOfTwo ? .unknownAuthority : failure
        for count in [1, 2] { try expect(try await ask(host, count: count), fails: failure) }
        let unverified = try await ask(host) { $0.verifiesServer = false }
        #expect(unverified.error == nil)
        #expect(String(decoding: unverified.body, as: UTF8.self).hasPrefix(host))
    }

    @Test func nobodyIsTrustedWithoutTheirAuthority() async throws {
        try expect(try await ask("good.test") { $0.caBundlePath = nil }, fails: .unknownAuthority)
        try expect(try await ask("good.test") { $0.caBundlePath = "/nowhere.pem" }, fails: .caBundle)
    }

    /// libcurl is built with the file or the folder of one system, and may run on another.
    @Test(
        arguments: [
            ("/a", nil, ["/a"], nil), ("/a", "/b", ["/a"], nil), (nil, "/b", ["/b"], nil),
            (nil, nil, [], nil),
            ("/a", nil, [], nil), ("/a", "/b", ["/b"], 0), ("/a", nil, [], 1), (nil, "/b", [], 3),
        ] as [(String?, String?, [String], Int?)])
    func authoritiesOfAnotherSystem(file: String?, folder: String?, existing: [String], place: Int?) {
        let expected = place.map { SystemAuthorities.usualPaths[$0] }
        let found = SystemAuthorities.file(insteadOf: file, folder) {
            existing.contains($0) || $0 == expected
        }
        #expect(found == expected)
    }

    // MARK: - Pins

    @Test func aPinIsHeldTo() async throws {
        #expect(try await ask("good.test") { $0.pinnedPublicKey = try pin() }.error == nil)
        let others = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        #expect(try await ask("good.test") { $0.pinnedPublicKey = others + ";" + (try pin()) }.error == nil)
        try expect(try await ask("good.test") { $0.pinnedPublicKey = others }, fails: .pinMismatch)
        let unverified = try await ask("good.test") {
            $0.pinnedPublicKey = others
            $0.verifiesServer = false
        }
        try expect(unverified, fails: .pinMismatch)
    }

    // MARK: - Versions

    @Test func theOldestVersionThatIsAccepted() async throws {
        let old = try await ask("good.test", port: server.tlsPort)
        #expect(String(decoding: old.body, as: UTF8.self) == "old TLSv1.2")
        let new = try await ask("good.test") { $0.requiresTLS13 = true }
        #expect(String(decoding: new.body, as: UTF8.self) == "good.test TLSv1.3 ")
        try expect(
            try await ask("good.test", port: server.tlsPort) { $0.requiresTLS13 = true },
            fails: .protocolVersion)
    }

    // MARK: - The client's certificate

    @Test func theClientShowsItsCertificate() async throws {
        let log = try await ask("client.test") {
            $0.clientCertificatePath = server.clientCertificatePath
            $0.clientKeyPath = server.clientKeyPath
        }
        #expect(log.error == nil)
        #expect(String(decoding: log.body, as: UTF8.self) == "client.test TLSv1.3 CN=visitor")
    }

    @Test func withoutOneTheServerSaysSo() async throws {
        // nginx finishes the handshake and responds.
        #expect(try await ask("client.test").head?.status.code == 400)
    }

    @Test(arguments: [false, true]) func aCertificateThatCannotBeRead(isKeyMissing: Bool) async throws {
        let log = try await ask("client.test") {
            $0.clientCertificatePath = isKeyMissing ? server.clientCertificatePath : "/nowhere.pem"
            $0.clientKeyPath = isKeyMissing ? "/nowhere.key" : server.clientKeyPath
        }
        try expect(log, fails: .clientCertificate)
    }

    @Test func thePasswordOfTheKeyIsNotShown() {
        var configuration = CurlTransport.Configuration()
        configuration.tls.clientKeyPassword = "s3cret"
        var shown = ""
        dump(configuration, to: &shown)
        #expect(!shown.contains("s3cret"))
        #expect(!"\(configuration)".contains("s3cret"))
        #expect(!"\(configuration.tls)".contains("s3cret"))
    }
}
