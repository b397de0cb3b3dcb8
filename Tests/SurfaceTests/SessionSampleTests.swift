import Foundation
import RxNetworking
import RxTesting
import Testing

@Suite struct SessionSampleTests {
    /// A server that omits the refresh token from its second response (RFC 6749 §6), to the renewal of Sessions.md.
    /// The renewal of the documentation sends its grant type, and a refresh token each time.
    @Test func renewal() throws {
        let clock = VirtualScheduler()
        let transport = ScriptedTransport(
            on: clock,
            [
                .when(
                    .post, "/token", .json(#"{"access_token":"t1","refresh_token":"r1"}"#),
                    .json(#"{"access_token":"t2"}"#), .json(#"{"access_token":"t3"}"#)),
                .when(
                    .get, "/goods", .status(.unauthorized), .json("1"), .status(.unauthorized), .json("2"),
                    .status(.unauthorized), .json("3")),
            ])
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        let session = renew(Client(configuration: configuration, transport: transport), .never())
        session.logIn(with: Credential(token: "t0", refreshToken: "r0"))
        configuration.session = session
        let client = Client(configuration: configuration, transport: transport)
        for _ in 0..<3 {
            let recorder = Recorder(client.get("/goods"), on: clock)
            try clock.run()
            #expect(recorder.isFinished)
        }
        let bodies = transport.requests.filter { $0.method == .post }.compactMap { request -> String? in
            guard case .bytes(let bytes) = request.body else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(bodies == ["r0", "r1", "r1"].map { "grant_type=refresh_token&refresh_token=" + $0 })
    }
}
