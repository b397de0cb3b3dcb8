import RxNetworking
import RxSimulation
import RxTesting
import Testing

private struct Token: Decodable, Sendable {
    let token: String
}

@Suite struct RecordingTests {
    @Test func aRecordingReplays() throws {
        let clock = VirtualScheduler()
        let server = ScriptedTransport(
            on: clock,
            [
                .when(.post, "/login", .json(#"{"token": "4-real-token"}"#, after: .seconds(2))),
                .when(.get, "/cart", .json(#"["tea"]"#, after: .milliseconds(300))),
            ])
        let recording = RecordingTransport(server)
        #expect(try goods(through: recording, on: clock) == [["tea"]])
        let file = recording.cassette.encoded
        #expect(!String(decoding: file, as: UTF8.self).contains("4-real-token"))

        let later = VirtualScheduler()
        let replay = ReplayTransport(try Cassette(bytes: file), on: later)
        #expect(try goods(through: replay, on: later) == [["tea"]])
        #expect(later.now == .milliseconds(2300))
        try replay.verify()
    }

    private func goods(through transport: any Transport, on clock: VirtualScheduler) throws -> [[String]] {
        let client = Client(
            configuration: ClientConfiguration(baseURL: "https://shop.test"), transport: transport)
        let login = client.post("/login", .json(["password": "open sesame"])).decode(Token.self)
        let cart = login.flatMap { login in
            client.get("/cart", headers: ["Authorization": "Bearer \(login.token)"]).decode([String].self)
        }
        let recorder = Recorder(cart, on: clock)
        try clock.run()
        return recorder.values
    }
}
