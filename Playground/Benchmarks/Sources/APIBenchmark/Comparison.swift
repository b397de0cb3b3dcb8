import CMallocCount
import HTTPCases
import RxNetworking

/// Compares the ways in one process, over one transport, in turns.
struct Comparison {
    let baseURL: String
    let count: Int
    let rounds: Int
    private let limit = 64

    private struct Line: Encodable {
        let `case` = "requests"
        let way: String
        /// The CPU time of all threads per request, in microseconds: the median of the rounds.
        let microseconds: Double
        /// The ratio of the CPU time to that of `bare`: the median of the ratios of the rounds.
        let ratio: Double
        /// The allocations of all threads per request, in a round that is not timed.
        let mallocs: Double
    }

    func run() async throws {
        let transport = CurlTransport(loop: .shared)
        var streams: [(Way, Observable<Int, NetworkError>)] = []
        for way in Way.shared { streams.append((way, try await way.items(of: baseURL, over: transport))) }
        var costs: [Way: [Double]] = [:]
        var mallocs: [Way: Double] = [:]
        for (way, stream) in streams {
            _ = try sum(stream, count: 1000, limit: limit)
            malloc_count_start()
            defer { mallocs[way] = Double(malloc_count_stop()) / 1000 }
            try check(sum(stream, count: 1000, limit: limit), of: 1000)
        }
        for round in 0..<rounds {
            // Each way comes first equally often.
            for index in streams.indices {
                let (way, stream) = streams[(index + round) % streams.count]
                let before = Usage().cpuSeconds
                try check(sum(stream, count: count, limit: limit), of: count)
                costs[way, default: []].append((Usage().cpuSeconds - before) / Double(count) * 1e6)
            }
        }
        let bare = costs[.bare] ?? []
        for way in Way.shared {
            let own = costs[way] ?? []
            try report(
                Line(
                    way: way.rawValue, microseconds: median(own),
                    ratio: median(zip(own, bare).map { $0 / $1 }), mallocs: mallocs[way] ?? 0))
        }
    }

    private func check(_ items: Int, of requests: Int) throws {
        guard items == requests * 10 else { throw Wrong("\(requests) requests brought \(items) items") }
    }
}
