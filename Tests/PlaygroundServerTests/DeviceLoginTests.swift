import Foundation
import Synchronization
import Testing

@testable import PlaygroundServer

/// The authorization server of the shop: device codes and rotated refresh tokens.
@Suite(.timeLimit(.minutes(1))) struct DeviceLoginTests {
    /// A server whose clock a test sets.
    private final class Clocked: Sendable {
        let accounts = Accounts()
        let server: AuthorizationServer
        private let time: Time

        private final class Time: Sendable {
            let seconds = Mutex(0.0)
        }

        init() {
            let time = Time()
            self.time = time
            server = AuthorizationServer(accounts: accounts) { time.seconds.withLock { $0 } }
        }

        func advance(by seconds: TimeInterval) { time.seconds.withLock { $0 += seconds } }

        func begin() throws -> AuthorizationServer.DeviceAuthorization {
            try server.authorize(Form("client_id=tour"), issuer: "http://127.0.0.1:1")
        }

        func tokens(device code: String) throws -> AuthorizationServer.Tokens {
            try server.tokens(
                Form(
                    "client_id=tour&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"
                        + "&device_code=\(code)"))
        }

        func tokens(refreshing token: String) throws -> AuthorizationServer.Tokens {
            try server.tokens(Form("client_id=tour&grant_type=refresh_token&refresh_token=\(token)"))
        }

        func answer(_ code: String, _ answer: String) throws {
            try server.answer(Form("user_code=\(code)&user=ada&password=tea&answer=\(answer)"))
        }

        /// The error of the token endpoint.
        func refusal<Value>(_ run: () throws -> Value) -> String? {
            #expect(throws: TokenRefusal.self) { try run() }?.error
        }
    }

    /// The device is put off until the user has answered, and asked to slow down if it asks too often.
    @Test func polling() throws {
        let shop = Clocked()
        let login = try shop.begin()
        #expect(login.interval == 1 && login.expiresIn == 600)
        #expect(login.verificationUriComplete == "http://127.0.0.1:1/device?user_code=\(login.userCode)")
        #expect(shop.refusal { try shop.tokens(device: login.deviceCode) } == "authorization_pending")
        shop.advance(by: 0.5)
        #expect(shop.refusal { try shop.tokens(device: login.deviceCode) } == "slow_down")
        shop.advance(by: 5.5)
        #expect(shop.refusal { try shop.tokens(device: login.deviceCode) } == "slow_down")
        shop.advance(by: 11)
        #expect(shop.refusal { try shop.tokens(device: login.deviceCode) } == "authorization_pending")
        try shop.answer(login.userCode.lowercased().replacing("-", with: "%20"), "allow")
        shop.advance(by: 11)
        let tokens = try shop.tokens(device: login.deviceCode)
        #expect(shop.accounts.user(authorization: "Bearer \(tokens.accessToken)") == "ada")
        // A device code is used once.
        #expect(shop.refusal { try shop.tokens(device: login.deviceCode) } == "invalid_grant")
    }

    @Test func denial() throws {
        let shop = Clocked()
        let login = try shop.begin()
        try shop.answer(login.userCode, "deny")
        #expect(shop.refusal { try shop.tokens(device: login.deviceCode) } == "access_denied")
        #expect(throws: Refusal.self) { try shop.answer(login.userCode, "allow") }
    }

    @Test func expiry() throws {
        let shop = Clocked()
        let login = try shop.begin()
        shop.advance(by: 600)
        #expect(shop.refusal { try shop.tokens(device: login.deviceCode) } == "expired_token")
        #expect(throws: Refusal.self) { try shop.answer(login.userCode, "allow") }
    }

    @Test func strangers() throws {
        let shop = Clocked()
        let login = try shop.begin()
        for form in [
            "user_code=\(login.userCode)&user=ada&password=coffee&answer=allow",
            "user_code=\(login.userCode)&user=ada&answer=allow",
            "user_code=BBBB-BBBB&user=ada&password=tea&answer=allow",
        ] {
            #expect(throws: Refusal.self) { try shop.server.answer(Form(form)) }
        }
        #expect(shop.refusal { try shop.tokens(device: login.deviceCode) } == "authorization_pending")
        #expect(shop.refusal { try shop.tokens(device: "x") } == "invalid_grant")
        let other = Form("client_id=other&grant_type=refresh_token&refresh_token=x")
        #expect(shop.refusal { try shop.server.tokens(other) } == "invalid_client")
        let password = Form("client_id=tour&grant_type=password&username=ada&password=tea")
        #expect(shop.refusal { try shop.server.tokens(password) } == "unsupported_grant_type")
    }

    /// Each refresh token is used once, and ends the access token before. A second use ends the whole login.
    @Test func rotation() throws {
        let shop = Clocked()
        let login = try shop.begin()
        try shop.answer(login.userCode, "allow")
        let first = try shop.tokens(device: login.deviceCode)
        let second = try shop.tokens(refreshing: first.refreshToken)
        let user = { (token: String) in shop.accounts.user(authorization: "Bearer \(token)") }
        #expect(user(first.accessToken) == nil && user(second.accessToken) == "ada")
        #expect(shop.refusal { try shop.tokens(refreshing: first.refreshToken) } == "invalid_grant")
        #expect(user(second.accessToken) == nil)
        #expect(shop.refusal { try shop.tokens(refreshing: second.refreshToken) } == "invalid_grant")
    }

    /// The documents on the wire: metadata of the server that was asked, errors with their status, no caching.
    @Test func documents() async throws {
        let api = try await DemoAPI.start()
        let metadata = try await Answer("GET", "/.well-known/oauth-authorization-server", at: api.baseURL)
        #expect(metadata.body.contains(#""issuer":"http://x""#))
        #expect(metadata.body.contains(#""device_authorization_endpoint":"http://x/oauth/device""#))
        let begun = try await Answer("POST", "/oauth/device", at: api.baseURL, body: "client_id=tour")
        struct Device: Decodable {
            let deviceCode: String
            let userCode: String

            private enum CodingKeys: String, CodingKey {
                case deviceCode = "device_code"
                case userCode = "user_code"
            }
        }
        let login = try begun.decoded(Device.self)
        #expect(begun.head.contains("Cache-Control: no-store"))
        let form =
            "client_id=tour&grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code="
            + login.deviceCode
        let early = try await Answer("POST", "/oauth/token", at: api.baseURL, body: form)
        #expect(early.status == 400 && early.body.contains(#""error":"authorization_pending""#))
        let page = try await Answer("GET", "/device?user_code=%22%3Cb%3EBCDF", at: api.baseURL)
        #expect(page.status == 200 && page.body.contains(#"value="bBCDF""#))
        let answer = "user_code=\(login.userCode)&user=ada&password=tea&answer=deny"
        #expect(try await Answer("POST", "/device", at: api.baseURL, body: answer).status == 200)
        let stranger = try await Answer("POST", "/oauth/token", at: api.baseURL, body: "client_id=x")
        #expect(stranger.status == 401 && api.statistics.logins == 0)
        await api.stop()
    }
}
