#if Auth
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import Testing

@testable import RxAuth

/// The types of OAuth with tokens, codes and secrets, and every way to print them.
@Suite struct OAuthPrintingTests {
    private static let canary = "cAnArY7cAnArY7cAnArY7"
    private static let bytes = Array(canary.utf8)

    private static func values() throws -> [(name: String, value: any Sendable)] {
        let secret = MessageSigningKey.generatedP256()
        let client = OAuth.Client.confidential("cli", secret: canary)
        let provider = OAuth.Provider.discover("https://\(canary):\(canary)@id.test/?token=\(canary)")
        let identity = OAuth.Identity(
            issuer: "https://id.test", subject: canary, claims: .object(["email": .string(canary)]))
        let tokens = OAuth.Tokens(
            .init(canary), refresh: canary, idToken: canary, identity: identity)
        let url = try #require(URL(string: "https://id.test/d?user_code=\(canary)"))
        let code = OAuth.DeviceCode(
            userCode: canary, verificationURL: url, completeURL: url, expires: Date(timeIntervalSince1970: 0))
        let exchange = OAuth.TokenExchange(subject: .init(canary), actor: .init(canary))
        let dpop = DPoP(key: try DPoP.Key(secret))
        let redirect = OAuth.Redirect.url("app:/?\(canary)", responses: .just(canary))
        let grant = OAuth.Grant.tokenExchange(exchange)
        let introspection = try OAuth.Introspection(
            .object(["active": .bool(true), "sub": .string(canary), "client_id": .string(canary)]))
        return [
            ("OAuth.Provider", provider), ("OAuth.Client", client),
            ("OAuth.Client.Authentication", client.authentication), ("OAuth.Grant", grant),
            ("OAuth.TokenExchange", exchange), ("OAuth.TokenExchange.Token", exchange.subject),
            ("OAuth.Redirect", redirect), ("OAuth.DeviceCode", code), ("OAuth.Tokens", tokens),
            ("OAuth.Identity", identity), ("OAuth.Introspection", introspection), ("DPoP", dpop),
            ("DPoP.Key", dpop.key),
            ("OAuth.Login", OAuth.Login(provider, client: client, grant: grant, dpop: dpop)),
        ]
    }

    /// No printed text shows a secret, neither as text nor as bytes.
    @Test func noSecret() throws {
        let numbers = Self.bytes.map { "\($0)" }.joined(separator: ", ")
        for (name, value) in try Self.values() {
            var dumped = ""
            dump(value, to: &dumped)
            var texts = ["\(value)", String(reflecting: value), String(describing: [value]), dumped]
            for child in Mirror(reflecting: value).children {
                texts += ["\(child.label ?? "") \(child.value)", String(reflecting: child.value)]
            }
            for text in texts {
                #expect(!text.isEmpty && !text.contains("cAnArY7"), "\(name): \(text)")
                #expect(!text.contains(numbers), "\(name): \(text)")
            }
        }
    }

    /// An error of the server shows its text where that is asked for, and nowhere else.
    @Test func errors() {
        let error = NetworkError.oauthRefused("invalid_grant", Self.canary, by: "the token endpoint")
        #expect(!"\(error)".contains(Self.canary) && error.serverMessage == Self.canary)
        #expect(!NetworkError.oauthRefused(Self.canary + " x", nil, by: "a").message.contains(Self.canary))
    }
}

extension OAuth.Tokens {
    fileprivate init(_ token: String, refresh: String, idToken: String, identity: OAuth.Identity) {
        self.init(
            accessToken: token, isBound: false, refreshToken: refresh, scopes: ["read"], idToken: idToken,
            identity: identity, issuer: "https://id.test")
    }
}
#endif
