import Foundation
import HTTPCases
import RxNetworking

/// Measures responses from the memory cache: with the cache alone, and through a client.
struct Hits {
    let baseURL: String
    let count: Int
    let rounds: Int

    private struct Line: Encodable {
        let `case` = "cache"
        let way: String
        /// The CPU time of all threads per response, in microseconds: the median of the rounds.
        let microseconds: Double
    }

    func run() throws {
        guard let url = URL(string: baseURL + "/goods") else {
            throw Arguments.Invalid(description: "no URL: \(baseURL)")
        }
        let transport = CurlTransport(loop: .shared)
        var configuration = ClientConfiguration()
        configuration.options.cachePolicy = .time(.seconds(3600))
        let client = Client(baseURL: baseURL, configuration: configuration, transport: transport)
        let cache = ResponseCache()
        let request = Request(url: url)
        let byHand = cache.response(to: request, policy: .time(.seconds(3600))) { request in
            transport.send(request).response(to: request)
        }
        let ways = [
            ("cache", byHand.map { $0.isFromCache ? 1 : 0 }),
            ("client", client.get("/goods").map { $0.isFromCache ? 1 : 0 }),
        ]
        for (_, stream) in ways { _ = try sum(stream, count: 1, limit: 1) }
        var costs: [String: [Double]] = [:]
        for _ in 0..<rounds {
            for (way, stream) in ways {
                let before = Usage().cpuSeconds
                guard try sum(stream, count: count, limit: 1) == count else {
                    throw Wrong("not every answer was a hit")
                }
                costs[way, default: []].append((Usage().cpuSeconds - before) / Double(count) * 1e6)
            }
        }
        for (way, _) in ways { try report(Line(way: way, microseconds: median(costs[way] ?? []))) }
    }
}
