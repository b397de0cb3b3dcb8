import Foundation
import RxNetworking
import Synchronization
import TestServers
import Testing

/// An app with a main and a standby server, rules for all parameters and responses, plug-ins around requests, and a queue
/// of uploads (`LCNetwork`).
@Suite(.timeLimit(.minutes(1))) struct WeatherTests {
    struct Clover: Decodable, Equatable, Sendable {
        let name: String
        let count: Int
    }

    struct WeatherAt: Endpoint {
        typealias Output = Clover
        let latitude: String
        let longitude: String
        let path = "/getweather.aspx"
        var parameters: Parameters { .query(["lat": latitude, "lng": longitude]) }
    }

    /// Only the count.
    struct CloverCount: Endpoint {
        typealias Output = Int
        let path = "/clover"
        let options = RequestOptions(headers: ["Accept": "application/json; charset=utf-8"], part: "count")
    }

    private static func configuration(_ server: RawServer) -> ClientConfiguration {
        var configuration = ClientConfiguration(baseURL: server.baseURL)
        configuration.rewriteParameters = { parameters in parameters.adding(["version": "1.0.0"]) }
        configuration.options.envelope = Envelope(
            code: "ok", message: "message", payload: "result", success: true)
        return configuration
    }

    private func server(_ body: String = #"{"result":{"name":"clover","count":10},"ok":true,"message":"成功"}"#)
        throws -> RawServer
    {
        try RawServer { _ in [.respond(200, ["Content-Type": "application/json"], body: body)] }
    }

    /// Parameters and responses of all requests go through one rule each.
    @Test func rules() async throws {
        let server = try server()
        let client = Client(configuration: Self.configuration(server))
        let weather = try await client.request(WeatherAt(latitude: "34.345", longitude: "113.678")).value()
        #expect(weather == Clover(name: "clover", count: 10))
        #expect(try await client.request(CloverCount()).value() == 10)
        let targets = server.record.requests.map(\.target)
        #expect(
            targets == ["/getweather.aspx?lat=34.345&lng=113.678&version=1.0.0", "/clover?version=1.0.0"])
        #expect(server.record.requests.last?.field("Accept") == "application/json; charset=utf-8")
    }

    /// A refusal has the server's message; the whole response stays readable.
    @Test func refusal() async throws {
        let server = try server(#"{"ok":false,"message":"没有数据","extra":7}"#)
        let client = Client(configuration: Self.configuration(server))
        let error = await #expect(throws: NetworkError.self) {
            try await client.request(CloverCount()).value()
        }
        #expect(error?.code == .envelope && error?.message == "没有数据")
        let raw = client.get("/clover", options: RequestOptions(envelope: .absent))
        #expect(try await raw.value().text.contains(#""extra":7"#))
    }

    /// The standby server is one option of a request away.
    @Test func standby() async throws {
        let (main, standby) = (try server(), try server())
        var configuration = Self.configuration(main)
        configuration.standbyURL = standby.baseURL
        let client = Client(configuration: configuration)
        _ = try await client.get("/clover").value()
        _ = try await client.get("/clover", options: RequestOptions(server: .standby)).value()
        #expect(main.record.requests.count == 1 && standby.record.requests.count == 1)
    }

    /// Parameters of a POST that belong in its URL, and a form with images and their progress.
    @Test func post() async throws {
        let server = try server()
        let client = Client(configuration: Self.configuration(server))
        _ = try await client.post("/unsubscribe", ["id": 7], query: ["token": "token1"]).value()
        let request = try #require(server.record.requests.first)
        #expect(request.target == "/unsubscribe?token=token1")
        #expect(request.text == #"{"id":7,"version":"1.0.0"}"#)

        let image = [UInt8](repeating: 7, count: 300_000)
        let images = InlineEndpoint(
            .post, "/images",
            .multipart(
                ["a.jpg", "b.jpg"].map {
                    .bytes("image", image, fileName: $0, contentType: "image/jpeg")
                }))
        var last: Double?
        for try await event in client.progress(of: images) {
            if case .uploaded(let progress) = event { last = progress.fraction }
        }
        #expect(last == 1)
        let form = try #require(server.record.requests.last)
        #expect(form.field("Content-Type")?.hasPrefix("multipart/form-data") == true)
        #expect(form.body.count > 600_000)
    }

    /// Plug-ins are called once for each request, except for one that has none.
    @Test func accessories() async throws {
        let calls = MutableProperty<[String]>([])
        let server = try server()
        var configuration = Self.configuration(server)
        configuration.options.accessories = [
            Accessory(
                willStart: { _ in calls.update { $0.append("start") } },
                willStop: { _, _ in calls.update { $0.append("stop") } },
                didStop: { _, _ in calls.update { $0.append("stopped") } })
        ]
        let client = Client(configuration: configuration)
        _ = try await client.get("/likes").value()
        _ = try await client.get("/likes", options: RequestOptions(presentation: .hidden)).value()
        _ = try await calls.observable.filter { $0.count >= 3 }.value()
        #expect(calls.value == ["start", "stop", "stopped"])
    }

    /// “Done” waits for all uploads, whenever they were added.
    @Test func queue() async throws {
        let server = try server()
        let client = Client(configuration: Self.configuration(server))
        let uploads = RequestQueue(limit: 2)
        for number in 1...5 {
            client.put("/images/\(number)", .text("image")).queued(in: uploads).subscribe()
        }
        _ = try await uploads.allComplete.value()
        #expect(server.record.requests.count == 5)
    }

    /// Several requests at once with one end; and one that needs the result of another.
    @Test func groups() async throws {
        let server = try server()
        let client = Client(configuration: Self.configuration(server))
        let both = Observable.zip(client.request(CloverCount()), client.request(CloverCount()))
        let (one, other) = try await both.value()
        #expect(one == 10 && other == 10)
        let chain = client.request(CloverCount()).flatMap { count in client.get("/clover/\(count)") }
        #expect(try await chain.value().status == .ok)
        #expect(server.record.requests.last?.target == "/clover/10?version=1.0.0")
    }
}
