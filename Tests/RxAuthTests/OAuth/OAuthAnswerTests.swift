#if Auth
import FoundationEssentials
import HTTPTypes
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import Testing

@testable import RxAuth

/// Pages of HTML and endless answers of every endpoint beside the token endpoint.
@Suite struct OAuthAnswerTests {
    private let server = AuthorizationServerDouble(metadata: [
        "pushed_authorization_request_endpoint": .string("https://id.test/par")
    ])

    /// An endpoint with the use that asks it.
    enum Place: String, CaseIterable, Sendable {
        case keys = "/keys"
        case device = "/device"
        case par = "/par"
        case introspection = "/introspect"
        case revocation = "/revoke"
    }

    /// The failure of the use, after the answer of its endpoint.
    private func error(_ place: Place, _ reply: ScriptedTransport.Reply) throws -> NetworkError? {
        server.answer(place.rawValue) { _ in reply }
        switch place {
        case .keys:
            let token = try IdentityKeys().token()
            server.answer("/token") { _ in
                AuthorizationServerDouble.tokens("T", ["id_token": .string(token)])
            }
            return try server.result(server.login().fetchTokens()).error
        case .device: return try server.result(server.login(.device { _ in }).fetchTokens()).error
        case .par:
            let browser = BrowserDouble()
            let error = try server.result(server.login(browser.grant).fetchTokens()).error
            #expect(browser.pages.isEmpty)
            return error
        case .introspection: return try server.result(server.login().introspect("T")).error
        case .revocation:
            return try server.result(server.login().revoke(.init(token: "T", refreshToken: "R"))).error
        }
    }

    private static let page = "<!doctype html><title>canary</title>"

    /// A page with status 200, and with another one. Nothing of it is in the error.
    @Test(arguments: Place.allCases) func pages(place: Place) throws {
        for status in [HTTPResponse.Status.ok, .notFound, .forbidden, .badGateway] {
            let error = try error(place, .json(Self.page, status: status))
            // The content of a revocation does not matter (RFC 7009 §2.2).
            guard place != .revocation || status != .ok else {
                #expect(error == nil)
                continue
            }
            #expect(error?.code == (place == .keys ? .oauthIDToken : .oauthResponse), "\(status)")
            #expect(error.map { !"\($0)".contains("canary") && $0.body.isEmpty } == true)
            #expect(error.map { OAuth.Login.isRejection($0) } == false)
        }
    }

    /// An answer that is too long is not read to its end, whatever it is.
    @Test(arguments: Place.allCases) func huge(place: Place) throws {
        for text in [
            String(repeating: " ", count: OAuthContext.responseLimit + 1),
            Self.page + String(repeating: "<p>", count: OAuthContext.responseLimit),
        ] {
            let error = try error(place, .json(text))
            #expect(error?.code == (place == .keys ? .oauthIDToken : .oauthResponse))
            let cause = error?.cause
            #expect(cause?.code == .tooLarge || error?.message.contains("bytes") == true)
            #expect(error.map { !"\($0)".contains("canary") } == true)
        }
    }
}
#endif
