#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxAuth

/// The metadata of authorization servers and protected resources: where they are looked for, and what is refused.
@Suite struct OAuthMetadataTests {
    private let server = AuthorizationServerDouble()

    private func metadata(of issuer: String) throws -> Result<OAuth.Metadata, NetworkError> {
        try server.result(OAuth.discover(issuer).metadata(through: server.transport()))
    }

    private var urls: [String] { server.calls.map { $0.request.url.absoluteString } }

    /// RFC 8414 comes before OpenID Connect; a path of the issuer goes behind the well-known suffix, and before it.
    @Test func places() throws {
        server.answer("/.well-known/oauth-authorization-server") { _ in .status(.notFound) }
        server.answer("/a/.well-known/openid-configuration") { _ in
            .json(AuthorizationServerDouble.metadata(issuer: "https://id.test/a"))
        }
        let found = try metadata(of: "https://id.test/a").get()
        #expect(found.tokenEndpoint?.absoluteString == "https://id.test/token")
        #expect(
            urls == [
                "https://id.test/.well-known/oauth-authorization-server/a",
                "https://id.test/.well-known/openid-configuration/a",
                "https://id.test/a/.well-known/openid-configuration",
            ])
    }

    /// Port and IPv6 address of an issuer stay in the URL of its metadata.
    @Test(
        arguments: [
            ("http://[::1]:8080", "http://[::1]:8080/.well-known/oauth-authorization-server"),
            ("https://id.test:444/x/", "https://id.test:444/.well-known/oauth-authorization-server/x"),
        ])
    func ports(issuer: String, url: String) throws {
        _ = try metadata(of: issuer)
        #expect(urls.first == url)
    }

    /// Metadata are fetched once for all that wait, and again after an hour.
    @Test func cached() throws {
        let provider = OAuth.discover(AuthorizationServerDouble.issuer)
        let transport = server.transport()
        let recorders = (0..<3).map { _ in Recorder(provider.metadata(through: transport), on: server.clock) }
        try server.clock.run()
        #expect(recorders.allSatisfy { $0.values.count == 1 && $0.isFinished } && server.calls.count == 1)
        try server.clock.advance(by: .seconds(3590))
        _ = try server.result(provider.metadata(through: transport))
        #expect(server.calls.count == 1)
        try server.clock.advance(by: .seconds(20))
        _ = try server.result(provider.metadata(through: transport))
        #expect(server.calls.count == 2)
    }

    /// A fetch that failed is repeated by the next login.
    @Test func failedFetch() throws {
        let provider = OAuth.discover(AuthorizationServerDouble.issuer)
        server.answer(
            "/.well-known/oauth-authorization-server", .failure(.connect),
            .json(AuthorizationServerDouble.metadata()))
        let transport = server.transport()
        let error = try server.failure(provider.metadata(through: transport))
        #expect(error.code == .oauthMetadata && error.cause?.code == .connect)
        #expect(try server.result(provider.metadata(through: transport)).get().issuer == "https://id.test")
    }

    /// The issuer is compared byte by byte: no slash, no case and no composed character is equated.
    @Test(
        arguments: [
            "https://id.test/", "https://ID.test", "https://id.test:443", "http://id.test", "",
            "https://evil.test",
        ])
    func otherIssuer(named: String) throws {
        server.answer("/.well-known/oauth-authorization-server") { _ in
            .json(AuthorizationServerDouble.metadata(["issuer": .string(named)]))
        }
        let error = try metadata(of: "https://id.test").error
        #expect(error?.code == .oauthMetadata && error?.message.contains("issuer differs") == true)
    }

    /// Issuers that must not be asked at all.
    @Test(
        arguments: [
            "http://id.test", "ftp://id.test", "id.test", "", "https://id.test?x=1", "https://id.test/#f",
            "https://user:secret@id.test", "http://127.0.0.1.evil.test", "http://127.1",
            "https://id.test\u{0}",
        ])
    func refusedIssuer(issuer: String) throws {
        let error = try metadata(of: issuer).error
        #expect(error?.code == .oauthMetadata && server.calls.isEmpty)
        #expect(error?.message.contains("secret") == false)
    }

    /// Endpoints that are not reached by https, and values of other types.
    @Test(
        arguments: [
            ["token_endpoint": .string("http://id.test/token")],
            ["token_endpoint": .string("http://127.0.0.1/token")], ["token_endpoint": .integer(1)],
            ["jwks_uri": .string("https://id.test/keys#a")], ["scopes_supported": .string("a b")],
            ["authorization_endpoint": .string("javascript:alert(1)")],
            ["mtls_endpoint_aliases": .object(["token_endpoint": .string("http://id.test/")])],
            ["code_challenge_methods_supported": .array([.integer(1)])],
        ] as [[String: JSONValue]])
    func refusedMembers(members: [String: JSONValue]) throws {
        server.answer("/.well-known/oauth-authorization-server") { _ in
            .json(AuthorizationServerDouble.metadata(members))
        }
        let error = try metadata(of: "https://id.test").error
        #expect(error?.code == .oauthMetadata)
        #expect(members.keys.contains { error?.message.contains($0) == true } || members.count == 1)
    }

    /// A loopback issuer may have http endpoints at loopback addresses, and only there.
    @Test func loopbackIssuer() throws {
        let issuer = "http://127.0.0.1:9000"
        for (endpoint, isGood) in [
            ("http://127.0.0.1:9000/token", true), ("http://localhost/token", true),
            ("http://id.test/token", false),
        ] {
            let document = AuthorizationServerDouble.metadata(
                ["token_endpoint": .string(endpoint)], issuer: issuer)
            let result = Result { () throws(NetworkError) in
                try OAuth.Metadata(Array(document.utf8), issuer: issuer)
            }
            #expect((result.error == nil) == isGood)
        }
    }

    /// Endpoints of metadata from the app must be reached by https as well, or at a loopback address.
    @Test func knownEndpoints() throws {
        let http = try #require(URL(string: "http://id.test/x"))
        let changes: [(String, @Sendable (inout OAuth.Metadata) -> Void)] = [
            ("authorization_endpoint", { $0.authorizationEndpoint = http }),
            ("token_endpoint", { $0.tokenEndpoint = http }),
            ("device_authorization_endpoint", { $0.deviceAuthorizationEndpoint = http }),
            ("pushed_authorization_request_endpoint", { $0.pushedAuthorizationRequestEndpoint = http }),
            ("revocation_endpoint", { $0.revocationEndpoint = http }),
            ("introspection_endpoint", { $0.introspectionEndpoint = http }),
            ("jwks_uri", { $0.keysURL = http }),
            ("token_endpoint", { $0.certificateEndpoints["token_endpoint"] = http }),
        ]
        for (name, change) in changes {
            var metadata = OAuth.Metadata(
                issuer: "id.test", tokenEndpoint: URL(string: "https://id.test/token"))
            change(&metadata)
            let error = try server.failure(server.login(provider: .known(metadata)).fetchTokens())
            #expect(error.code == .oauthMetadata && error.message.contains(name), "\(name)")
        }
        #expect(server.calls.isEmpty)
        for text in ["https://id.test/token", "http://127.0.0.1/token", "http://[::1]:8080/token"] {
            let metadata = OAuth.Metadata(issuer: "id.test", tokenEndpoint: URL(string: text))
            #expect(try server.result(server.login(provider: .known(metadata)).fetchTokens()).error == nil)
        }
    }

    /// A server that answers the URL of RFC 8414 with a page, as it answers every unknown one, is asked for the other.
    @Test(arguments: ["<html>", "", "[]", #"{"a":"#])
    func pageInstead(of text: String) throws {
        server.answer("/.well-known/oauth-authorization-server") { _ in .json(text) }
        server.answer("/.well-known/openid-configuration") { _ in .json(AuthorizationServerDouble.metadata())
        }
        #expect(try metadata(of: "https://id.test").error == nil)
        // An object is the document that was asked for, even if it is not that of the issuer.
        server.answer("/.well-known/oauth-authorization-server") { _ in .json(#"{"issuer":"https://a.test"}"#)
        }
        #expect(try metadata(of: "https://id.test").error?.message.contains("issuer differs") == true)
    }

    /// Documents that are huge, no JSON, or redirected.
    @Test func unusableDocuments() throws {
        let huge = String(repeating: " ", count: OAuthContext.responseLimit + 1)
        for (reply, word) in [
            (ScriptedTransport.Reply.json(huge), "bytes"), (.json("<html>"), "JSON object"),
            (.json("[]"), "JSON object"),
            (.status(.found, headers: [.location: "https://evil.test/"]), "redirects"),
            (.status(.internalServerError), "status 500"), (.status(.notFound), "publishes no metadata"),
        ] {
            server.answer("/.well-known/oauth-authorization-server") { _ in reply }
            let error = try metadata(of: "https://id.test").error
            #expect(error?.code == .oauthMetadata && error?.message.contains(word) == true, "\(word)")
            // Nor does a page at the other URL say more.
            server.answer("/.well-known/openid-configuration") { _ in .json("<html>") }
            let second = try metadata(of: "https://id.test").error
            #expect(second?.message.contains(word == "publishes no metadata" ? "JSON object" : word) == true)
            server.answer("/.well-known/openid-configuration") { _ in .status(.notFound) }
        }
        #expect(!server.calls.contains { $0.request.url.host() == "evil.test" })
    }

    // MARK: - Protected resources

    private func resource(_ document: String, _ url: String) -> Result<OAuth.ResourceMetadata, NetworkError> {
        Result { () throws(NetworkError) in try OAuth.ResourceMetadata(Array(document.utf8), for: url) }
    }

    /// The metadata of a resource count for it and what is below it, and for nothing else.
    @Test(
        arguments: [
            ("https://api.test/mcp", "https://api.test/mcp", true),
            ("https://api.test", "https://api.test/mcp", true),
            ("https://api.test/", "https://api.test/mcp", true),
            ("https://api.test/m", "https://api.test/mcp", false),
            ("https://api.test/mcp/x", "https://api.test/mcp", false),
            ("https://evil.test/mcp", "https://api.test/mcp", false),
            ("https://api.test:444/mcp", "https://api.test/mcp", false),
            ("http://api.test/mcp", "https://api.test/mcp", false),
        ])
    func resources(named: String, url: String, isGood: Bool) {
        let document = #"{"resource":"\#(named)","authorization_servers":["https://id.test"]}"#
        #expect((resource(document, url).error == nil) == isGood)
    }

    /// Resources without a server that can be used.
    @Test func resourcesWithoutServer() {
        for servers in ["[]", "[1]", #"["http://id.test"]"#, #""https://id.test""#] {
            let document = #"{"resource":"https://api.test","authorization_servers":\#(servers)}"#
            #expect(resource(document, "https://api.test").error?.code == .oauthMetadata)
        }
    }
}
#endif
