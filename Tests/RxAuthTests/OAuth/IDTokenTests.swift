#if Auth
import Crypto
import CryptoExtras
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxAuth

/// The validation of ID tokens (OpenID Connect Core §3.1.3.7), and the keys for it.
@Suite struct IDTokenTests {
    private let server = AuthorizationServerDouble()
    private static let keys = IdentityKeys()

    /// The outcome of a login whose ID token is this text.
    private func login(
        with token: String, scopes: [String]? = nil, keys: IdentityKeys = keys
    ) throws -> Result<OAuth.Tokens, NetworkError> {
        server.answer("/keys") { _ in .json(keys.document) }
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T1", ["id_token": .string(token)]) }
        return try server.result(server.login(scopes: scopes).fetchTokens())
    }

    /// Every algorithm that a server may use.
    @Test(arguments: ["ES256", "EdDSA", "RS256"])
    func algorithms(name: String) throws {
        let key: MessageSigningKey =
            switch name {
            case "ES256": .generatedP256()
            case "EdDSA": .generated()
            default:
                try .pem(
                    _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation, rsa: .rsaV15SHA256)
            }
        let keys = IdentityKeys(key)
        let hash =
            name == "EdDSA"
            ? Array(SHA512.hash(data: Array("T1".utf8)).prefix(32))
            : Array(SHA256.hash(data: Array("T1".utf8)).prefix(16))
        let token = try keys.token([
            "at_hash": .string(hash.base64URLText), "email": .string("a@b.test"), "acr": .string("gold"),
            "amr": .array([.string("otp")]), "auth_time": .integer(1_699_999_000),
        ])
        let identity = try #require(try login(with: token, keys: keys).get().identity)
        #expect(identity.subject == "anna" && identity["email"] == "a@b.test")
        #expect(identity.authenticationClass == "gold" && identity.authenticationMethods == ["otp"])
        #expect(identity.authenticationDate?.timeIntervalSince1970 == 1_699_999_000)
    }

    /// Tokens of the other algorithms, made by joserfc.
    @Test(arguments: JoserfcTokens.tokens) func foreignTokens(name: String, token: String) throws {
        server.answer("/keys") { _ in .json(JoserfcTokens.keys) }
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T1", ["id_token": .string(token)]) }
        #expect(try server.result(server.login().fetchTokens()).get().identity?.subject == "anna")
        // The hash of the access token depends on the algorithm.
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T2", ["id_token": .string(token)]) }
        let error = try server.failure(server.login().fetchTokens())
        #expect(error.code == .oauthIDToken && error.message.contains("access token beside it"))
        // A key verifies nothing of another algorithm than the one it names.
        let named = JoserfcTokens.keys.replacing(
            #""kid":"#, with: #""alg":"\#(name == "RS384" ? "RS256" : "RS384")","kid":"#)
        server.answer("/keys") { _ in .json(named) }
        #expect(try server.failure(server.login().fetchTokens()).message.contains("not signed by a key"))
    }

    /// Claims that are not those of a token for this client, from this server, at this time. Words of the errors.
    @Test(
        arguments: [
            (["iss": .string("https://evil.test")], "another issuer"),
            (["iss": .string("https://id.test/")], "another issuer"), (["iss": nil], "another issuer"),
            (["aud": .string("other")], "another client"), (["aud": .array([])], "another client"),
            (["aud": nil], "another client"),
            (["aud": .array([.string("cli"), .integer(1)])], "another client"),
            (["aud": .array([.string("cli"), .string("other")])], "several clients"),
            (["azp": .string("other")], "requested by another client"),
            (["azp": .integer(1)], "another client"),
            (["sub": nil], "names no user"), (["sub": .string("")], "names no user"),
            (["sub": .string(String(repeating: "a", count: 256))], "names no user"),
            (["exp": nil], "when it was issued"), (["iat": nil], "when it was issued"),
            (["exp": .string("1700003600")], "when it was issued"),
            (["exp": .integer(1_699_999_900)], "expired 100 s ago"),
            (["iat": .integer(1_700_003_600)], "3600 s ahead of the clock"),
            (["exp": .integer(1_699_996_400)], "expired 3600 s ago"),
            (["exp": .number(-1e300)], "expired years ago"), (["iat": .number(1e300)], "years ahead"),
            (["nbf": .integer(1_700_000_100)], "not valid yet"),
            (["at_hash": .string("AAAA")], "access token beside it"),
            (["at_hash": .integer(1)], "access token beside it"),
        ] as [([String: JSONValue?], String)])
    func claims(changes: [String: JSONValue?], word: String) throws {
        let error = try login(with: Self.keys.token(changes)).error
        #expect(
            error?.code == .oauthIDToken && error?.message.contains(word) == true,
            "\(String(describing: error))")
        #expect(error.map { "\($0)".contains("eyJ") } == false)
    }

    /// Clocks that differ by less than a minute, and a token for several clients that this one has requested.
    @Test(
        arguments: [
            ["exp": .integer(1_699_999_950)],
            ["iat": .integer(1_700_000_050), "nbf": .integer(1_700_000_050)],
            ["aud": .array([.string("cli"), .string("other")]), "azp": .string("cli")],
            ["aud": .array([.string("cli")])],
        ] as [[String: JSONValue?]])
    func leeway(changes: [String: JSONValue?]) throws {
        #expect(try login(with: Self.keys.token(changes)).error == nil)
    }

    /// A token that is not signed by the server, or not at all.
    @Test func signatures() throws {
        let token = try Self.keys.token()
        let foreign = try IdentityKeys().token(["sub": .string("eve")])
        let parts = token.split(separator: ".")
        let none = #"{"alg":"none"}"#.utf8.base64URLText
        let secret = try MessageSigningKey.hmacSHA256(Array("cli-secret-cli-secret".utf8))
        let symmetric = try JSONWebToken.signed(["sub": .string("a")], by: secret, keyID: nil)
        for (text, word) in [
            (foreign, "not signed by a key"), ("\(parts[0]).\(parts[1]).", "not signed by a key"),
            ("\(parts[0]).\(foreign.split(separator: ".")[1]).\(parts[2])", ""),
            ("\(none).\(parts[1]).", "RS256 or ES256"), (symmetric, "RS256 or ES256"),
            ("", ""), ("a.b", "malformed"), ("a.b.c.d", "malformed"),
            ("\(parts[0]).\(parts[1]).=", "malformed"),
            (token + "A", ""), (token + String(repeating: "A", count: 70_000), "malformed"),
        ] where !text.isEmpty {
            let error = try login(with: text).error
            guard word.isEmpty else {
                #expect(error?.code == .oauthIDToken && error?.message.contains(word) == true, "\(text)")
                continue
            }
            #expect(error?.code == .oauthIDToken, "\(text)")
        }
    }

    /// A header that a client must understand, and does not.
    @Test func criticalHeader() throws {
        let header: [String: JSONValue] = [
            "alg": .string("ES256"), "kid": .string("k1"), "crit": .array([.string("exp")]),
        ]
        let text = JSONWebToken.unsigned(header, ["sub": .string("a")])
        let token = text + "." + (try Self.keys.key.signature(of: Array(text.utf8))).base64URLText
        #expect(try login(with: token).error?.message.contains("critical") == true)
    }

    /// The nonce of the authorization request, which a login with the scope `openid` requires, as it requires the token.
    @Test func nonces() throws {
        server.answer("/keys") { _ in .json(Self.keys.document) }
        for (nonce, isGood) in [("{}", true), ("x", false), (nil, false)] as [(String?, Bool)] {
            let browser = BrowserDouble()
            server.answer("/token") { _ in
                let own = browser.pages.last?["nonce"] ?? ""
                let token = try? Self.keys.token([
                    "nonce": nonce.map { .string($0.replacing("{}", with: own)) }
                ])
                return AuthorizationServerDouble.tokens("T", ["id_token": .string(token ?? "")])
            }
            let result = try server.result(
                server.login(browser.grant, client: .public("cli"), scopes: ["openid"]).fetchTokens())
            #expect((result.error == nil) == isGood && browser.pages.last?["nonce"]?.utf8.count == 43)
        }
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T") }
        let error = try server.failure(
            server.login(BrowserDouble().grant, client: .public("cli"), scopes: ["openid"]).fetchTokens())
        #expect(error.code == .oauthIDToken && error.message.contains("missing"))
    }

    // MARK: - Keys

    /// Keys are fetched once, and again for a token by a new key.
    @Test func rotatedKeys() throws {
        let first = IdentityKeys(id: "k1"), second = IdentityKeys(id: "k2")
        let login = server.login()
        server.answer("/keys", .json(first.document), .json(second.document))
        for keys in [first, first, second, second] {
            let token = try keys.token()
            server.answer("/token") { _ in AuthorizationServerDouble.tokens("T", ["id_token": .string(token)])
            }
            #expect(try server.result(login.fetchTokens()).error == nil)
        }
        #expect(server.calls("/keys").count == 2)
    }

    /// A key that is replaced by one with the same id is fetched again, and a token by neither is refused.
    @Test func replacedKey() throws {
        let first = IdentityKeys(), second = IdentityKeys()
        let login = server.login()
        server.answer("/keys", .json(first.document), .json(second.document))
        func outcome(_ keys: IdentityKeys) throws -> NetworkError? {
            let token = try keys.token()
            server.answer("/token") { _ in AuthorizationServerDouble.tokens("T", ["id_token": .string(token)])
            }
            return try server.result(login.fetchTokens()).error
        }
        for keys in [first, first, second, second] { #expect(try outcome(keys) == nil) }
        #expect(server.calls("/keys").count == 2)
        for _ in 0..<5 { #expect(try outcome(IdentityKeys())?.code == .oauthIDToken) }
        #expect(server.calls("/keys").count == 3)
        #expect(try outcome(second) == nil)
    }

    /// A token that is refused for its claims causes no fetch.
    @Test func refusedClaims() throws {
        let login = server.login()
        let token = try Self.keys.token(["aud": .string("other")])
        server.answer("/keys") { _ in .json(Self.keys.document) }
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T", ["id_token": .string(token)]) }
        for _ in 0..<3 { #expect(try server.failure(login.fetchTokens()).message.contains("another client")) }
        #expect(server.calls("/keys").count == 1)
    }

    /// Tokens that come at the same time share one fetch, also if it fails, and the next one fetches again.
    @Test func sharedFetch() throws {
        let login = server.login()
        let token = try Self.keys.token()
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T", ["id_token": .string(token)]) }
        server.answer(
            "/keys", .status(.serviceUnavailable, after: .milliseconds(50)),
            .json(Self.keys.document, after: .milliseconds(50)))
        for round in 1...2 {
            let recorders = (0..<6).map { _ in Recorder(login.fetchTokens(), on: server.clock) }
            try server.clock.run()
            #expect(recorders.allSatisfy { ($0.failure == nil) == (round == 2) })
            #expect(server.calls("/keys").count == round)
        }
    }

    /// Unknown keys cause three fetches in five minutes at most, and failed fetches count.
    @Test(arguments: [true, false])
    func fetchLimit(isFailing: Bool) throws {
        let login = server.login()
        let token = try IdentityKeys(id: "x").token()
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T", ["id_token": .string(token)]) }
        server.answer("/keys") { _ in isFailing ? .failure(.connect) : .json(Self.keys.document) }
        for _ in 0..<10 { #expect(try server.failure(login.fetchTokens()).code == .oauthIDToken) }
        #expect(server.calls("/keys").count == 3)
        try server.clock.advance(by: .seconds(301))
        let good = try Self.keys.token()
        server.answer("/token") { _ in AuthorizationServerDouble.tokens("T", ["id_token": .string(good)]) }
        server.answer("/keys") { _ in .json(Self.keys.document) }
        #expect(try server.result(login.fetchTokens()).error == nil)
    }

    /// Keys of other uses and kinds, and with impossible numbers, are left out.
    @Test(
        arguments: [
            #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
            #"{"kty":"EC","crv":"P-521","x":"AA","y":"AA"}"#, #"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#,
            #"{"kty":"oct","k":"AAAA"}"#, "{}", "1", #"{"kty":1}"#,
            #"{"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","y":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#,
        ])
    func unusableKeys(key: String) throws {
        #expect(JSONWebKeySet(Array(#"{"keys":[\#(key)]}"#.utf8))?.keys.isEmpty == true)
    }

    /// Some servers, such as glewlwyd, leave out the zeros at the beginning of a coordinate, or write one more.
    @Test(arguments: ["x", "y"]) func shortCoordinates(coordinate: String) throws {
        var key = P256.Signing.PrivateKey()
        func half() -> ArraySlice<UInt8> {
            let point = Array(key.publicKey.rawRepresentation)
            return coordinate == "x" ? point[..<32] : point[32...]
        }
        while half().first != 0 { key = P256.Signing.PrivateKey() }
        let keys = IdentityKeys(try .pem(key.pemRepresentation))
        let whole = half().base64URLText
        let token = try keys.token()
        for text in [half().drop { $0 == 0 }.base64URLText, ([0] + half()).base64URLText] {
            let document = keys.document.replacing(
                #""\#(coordinate)":"\#(whole)""#, with: #""\#(coordinate)":"\#(text)""#)
            #expect(document != keys.document)
            server.answer("/keys") { _ in .json(document) }
            server.answer("/token") { _ in
                AuthorizationServerDouble.tokens("T1", ["id_token": .string(token)])
            }
            #expect(try server.result(server.login().fetchTokens()).error == nil)
        }
    }

    /// A key for encryption, or of another algorithm, verifies nothing.
    @Test(arguments: [("use", "enc"), ("alg", "ES384")])
    func otherUses(member: String, value: String) throws {
        var members = (Self.keys.key.verifyingKey.publicMembers ?? [:]).mapValues { JSONValue.string($0) }
        let document = { JSONValue.object(["keys": .array([.object(members)])]).document }
        #expect(JSONWebKeySet(document())?.keys.count == 1)
        members[member] = .string(value)
        #expect(JSONWebKeySet(document())?.keys.isEmpty == true)
    }

    /// The thumbprint of RFC 7638 §3.1.
    @Test func thumbprint() {
        let members = [
            "kty": "RSA", "e": "AQAB",
            "n":
                "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
        ]
        #expect(JSONWebKeySet.thumbprint(of: members) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }
}
#endif
