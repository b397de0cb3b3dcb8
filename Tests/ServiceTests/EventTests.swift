import RxNetworking
import TestServers
import Testing

/// Event streams of sse-starlette.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct EventTests {
    private struct Number: Decodable { let number: Int }

    /// Events continue after the last one when the server is killed, none twice and none lost.
    @Test func killed() async throws {
        let live = try await Service.live()
        let client = Client(baseURL: live.baseURL)
        let numbers = client.events(.get("/events")).messages()
            .map { Int($0.lastEventID) ?? 0 }
            .take(60)
            .values(buffering: .unbounded).makeAsyncIterator()
        var seen: [Int] = []
        while seen.count < 20, let number = try await numbers.next() { seen.append(number) }
        try await live.kill()
        let successor = try await Service.live(on: live.port)
        while let number = try await numbers.next() { seen.append(number) }
        #expect(seen == Array(1...60))
        let last = try await successor.line { line in
            line.hasPrefix("live: events after ") ? Int(line.dropFirst("live: events after ".count)) : nil
        }
        #expect((20..<60).contains(last))
    }
}
