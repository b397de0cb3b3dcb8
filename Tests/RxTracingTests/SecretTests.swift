#if Tracing
import FoundationEssentials
import HTTPTypes
import InMemoryTracing
import RxClient
import RxHTTP
import RxLite
import RxParameters
import RxTesting
import RxTracing
import Testing
import Tracing

/// No secret reaches a span, whatever carries it.
@Suite struct SecretTests {
    private static let canary = "canary7"

    @Test(arguments: [true, false]) func noSpanShowsASecret(fails: Bool) throws {
        let canary = Self.canary
        let session = Session(credential: Credential(token: canary)) {
            .just(Credential(token: canary + "2"))
        }
        let body = #"{"error":"\#(canary)","password":"\#(canary)"}"#
        let reply = ScriptedTransport.Reply.bytes(
            Array(body.utf8),
            headers: [
                .setCookie: "sid=\(canary)", .contentType: "application/json",
                HTTPField.Name("X-Token")!: canary,
            ])
        let refusal = ScriptedTransport.Reply.status(
            .internalServerError, headers: [.setCookie: "sid=\(canary)"])
        let fixture = TracingFixture([
            .when(.post, "/v1/login/ada", fails ? refusal : reply),
            .when(
                .post, "/v1/old",
                .status(.temporaryRedirect, headers: [.location: "/v1/login/ada?token=\(canary)"])),
        ]) { configuration in
            configuration.baseURL = "https://user:\(canary)@shop.test/v1"
            configuration.session = session
            configuration.options.headers = ["X-Api-Key": canary]
            configuration.signature = .parameters { _ in ["sign": canary] }
        }
        for path in ["/login/{name}?q=\(canary)", "/old?x=\(canary)#\(canary)"] {
            _ = Recorder(
                fixture.client.post(
                    path, at: path.contains("{") ? ["name": "ada"] : [:],
                    .form(["password": canary]), query: ["token": canary, "page": canary],
                    headers: ["Authorization": "Bearer \(canary)", "Cookie": canary]),
                on: fixture.clock)
        }
        try fixture.clock.run()
        #expect(fixture.calls.count == 2)
        for span in fixture.tracer.finishedSpans {
            #expect(!span.everything.contains(canary), "\(span.everything)")
            #expect(!"\(span.context)".contains(canary))
        }
    }

    @Test func theTextOfServersIsNotRecorded() throws {
        var configuration = ClientConfiguration(baseURL: "https://shop.test")
        configuration.options.retry = .never
        configuration.options.envelope = Envelope(
            code: "code", message: "msg", payload: "data", success: 0)
        let fixture = TracingFixture([
            .when(.get, "/v1/goods", .json(#"{"code":7,"msg":"canary7","data":null}"#))
        ]) {
            $0.options.retry = .never
            $0.options.envelope = Envelope(code: "code", message: "msg", payload: "data", success: 0)
        }
        let answer = Recorder(fixture.client.get("/goods"), on: fixture.clock)
        try fixture.clock.run()
        #expect(answer.failure?.message == "canary7")
        let call = try #require(fixture.calls.first)
        #expect(call["error.type"] == "envelope")
        #expect(call.errors.count == 1)
        #expect(!call.everything.contains("canary7"))
    }
}
#endif
