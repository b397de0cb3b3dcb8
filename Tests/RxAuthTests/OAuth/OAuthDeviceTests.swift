#if Auth
import FoundationEssentials
import HTTPTypes
import RxHTTP
import RxLite
import RxTesting
import Testing

@testable import RxAuth

/// Logins by a device code (RFC 8628): when the server is asked, and when that ends.
@Suite struct OAuthDeviceTests {
    private let server = AuthorizationServerDouble()
    private let shown = Notes<OAuth.DeviceCode>()

    private static let code =
        #"{"device_code":"D1","user_code":"WDJB-MJHT","verification_uri":"https://id.test/d","expires_in":60}"#

    private func login(_ code: String = code, client: OAuth.Client = .public("cli")) -> OAuth.Login {
        server.answer("/device") { _ in .json(code) }
        return server.login(.device { [shown] in shown.add($0) }, client: client, scopes: ["read"])
    }

    private static func pending(_ code: String = "authorization_pending") -> ScriptedTransport.Reply {
        .json(#"{"error":"\#(code)"}"#, status: .badRequest)
    }

    /// The seconds between the requests to the token endpoint, and from the first one to the device endpoint.
    private func waits(_ transport: ScriptedTransport) -> [Double] {
        let times = transport.exchanges.filter { ["/device", "/token"].contains($0.request.url.path()) }
            .map { $0.startedAt / .seconds(1) }
        return zip(times.dropFirst(), times).map { ($0 - $1).rounded() }
    }

    /// The server is asked at its interval until the user has answered; `slow_down` adds five seconds for good.
    @Test func polling() throws {
        server.answer(
            "/token", Self.pending(), Self.pending("slow_down"), Self.pending(),
            AuthorizationServerDouble.tokens("T1"))
        let login = OAuth.Login(
            .discover("https://id.test"), client: .public("cli"), grant: .device { [shown] in shown.add($0) },
            scopes: ["read"])
        server.answer("/device") { _ in .json(Self.code) }
        let transport = server.transport()
        login.transport = transport
        #expect(try server.result(login.fetchTokens()).get().accessToken == "T1")
        #expect(waits(transport) == [5, 5, 10, 10])
        #expect(shown.all.count == 1 && shown.all.first?.userCode == "WDJB-MJHT")
        #expect(shown.all.first?.verificationURL.absoluteString == "https://id.test/d")
        #expect(shown.all.first?.completeURL == nil)
        let device = try #require(server.calls("/device").first)
        #expect(device["client_id"] == "cli" && device["scope"] == "read" && device.request.method == .post)
        let call = try #require(server.calls("/token").last)
        #expect(call["device_code"] == "D1" && call["client_id"] == "cli")
        #expect(call["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code")
    }

    /// After a failure of the connection, the server is asked half as often.
    @Test func connectionFailures() throws {
        server.answer(
            "/token", .failure(.connectTimeout), .json("", status: .serviceUnavailable),
            AuthorizationServerDouble.tokens("T1"))
        let login = login()
        let transport = server.transport()
        login.transport = transport
        let start = server.clock.now
        #expect(try server.result(login.fetchTokens()).get().accessToken == "T1")
        let seconds = (server.clock.now - start) / .seconds(1)
        #expect(seconds > 34 && seconds < 37)
    }

    /// A server that cannot answer now is asked again, half as often each time, whether it names an error or not.
    @Test(
        arguments: [
            (.tooManyRequests, ""), (.tooManyRequests, #"{"error":"too_many_requests"}"#),
            (.requestTimeout, ""), (.badRequest, #"{"error":"temporarily_unavailable"}"#),
            (.internalServerError, #"{"error":"server_error"}"#),
        ] as [(HTTPResponse.Status, String)])
    func overload(status: HTTPResponse.Status, body: String) throws {
        server.answer("/token", .json(body, status: status), AuthorizationServerDouble.tokens("T1"))
        let start = server.clock.now
        #expect(try server.result(login().fetchTokens()).get().accessToken == "T1")
        // Five seconds, and then ten.
        let seconds = (server.clock.now - start) / .seconds(1)
        #expect(seconds > 15 && seconds < 16)
    }

    /// A refusal without a name ends the login: nothing says that waiting helps.
    @Test(arguments: [HTTPResponse.Status.badRequest, .unauthorized, .notFound])
    func unnamedRefusal(status: HTTPResponse.Status) throws {
        server.answer("/token") { _ in .json("", status: status) }
        let error = try server.failure(login().fetchTokens())
        #expect(error.code == .oauthResponse && server.calls("/token").count == 1)
    }

    /// A code that expires ends the login, by the clock of this machine and by the word of the server.
    @Test func expiry() throws {
        server.answer("/token") { _ in Self.pending() }
        let error = try server.failure(login().fetchTokens())
        #expect(error.code == .oauthTimeout && !OAuth.Login.isRejection(error))
        #expect(server.calls("/token").count == 12)
        #expect(server.clock.now < .seconds(61))
        server.answer("/token") { _ in Self.pending("expired_token") }
        #expect(try server.failure(login().fetchTokens()).envelopeCode == "expired_token")
    }

    /// A denial ends the login at once.
    @Test func denial() throws {
        server.answer("/token") { _ in Self.pending("access_denied") }
        let error = try server.failure(login().fetchTokens())
        #expect(error.envelopeCode == "access_denied" && server.calls("/token").count == 1)
    }

    /// Cancelling stops asking.
    @Test func cancelled() throws {
        server.answer("/token") { _ in Self.pending() }
        let recorder = Recorder(login().fetchTokens(), on: server.clock)
        try server.clock.advance(by: .seconds(12))
        recorder.cancel()
        try server.clock.run()
        #expect(server.calls("/token").count == 2)
    }

    /// Intervals and lives that a server must not dictate, and a complete URL.
    @Test func boundaries() throws {
        server.answer("/token", Self.pending(), AuthorizationServerDouble.tokens("T1"))
        let document =
            #"{"device_code":"D","user_code":"U","verification_uri":"https://id.test/d","expires_in":99999999,"interval":0,"verification_uri_complete":"https://id.test/d?code=U"}"#
        _ = try server.result(login(document).fetchTokens()).get()
        #expect(shown.all.first?.completeURL?.absoluteString == "https://id.test/d?code=U")
        #expect(shown.all.first.map { $0.expires <= Date(timeIntervalSince1970: 1_700_003_601) } == true)
        #expect(server.clock.now > .seconds(2))
    }

    /// Answers without a code, or with a URL that leads elsewhere than to https.
    @Test(
        arguments: [
            "{}", "[]", "<html>", #"{"device_code":"D","user_code":"U"}"#,
            #"{"device_code":"D","user_code":"U","verification_uri":"http://id.test/"}"#,
            #"{"device_code":"D","user_code":"U\u001b[2J","verification_uri":"https://id.test/"}"#,
            #"{"device_code":1,"user_code":"U","verification_uri":"https://id.test/"}"#,
        ])
    func malformed(document: String) throws {
        #expect(try server.failure(login(document).fetchTokens()).code == .oauthResponse)
        #expect(shown.all.isEmpty)
    }

    /// A server without device codes.
    @Test func unsupported() throws {
        let server = AuthorizationServerDouble(metadata: ["device_authorization_endpoint": nil])
        let error = try server.failure(server.login(.device { _ in }).fetchTokens())
        #expect(error.code == .oauthMetadata && error.message.contains("device_authorization_endpoint"))
    }
}
#endif
