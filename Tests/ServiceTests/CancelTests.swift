import RxNetworking
import TestServers
import Testing

/// Cancelled requests, as the server experiences them.
@Suite(.enabled(if: Service.programs != nil), .timeLimit(.minutes(2))) struct CancelTests {
    /// The server notices the cancelling of every request.
    @Test func cancels() async throws {
        let live = try await Service.live()
        let client = Client(baseURL: live.baseURL)
        let subscriptions = (1...40).map { number in
            client.get("/endless/\(number)").subscribe(
                onNext: { _ in Issue.record("a response to request \(number)") },
                onFailure: { error in Issue.record("request \(number) failed: \(error)") })
        }
        for number in 1...40 { try await live.line { $0 == "live: began \(number)" ? () : nil } }
        #expect(live.count(of: "live: gone") == 0)
        for subscription in subscriptions { subscription.cancel() }
        for number in 1...40 { try await live.line { $0 == "live: gone \(number)" ? () : nil } }
    }
}
