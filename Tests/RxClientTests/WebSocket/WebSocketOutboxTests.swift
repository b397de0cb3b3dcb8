import RxLite
import Testing

@testable import RxClient

@Suite struct WebSocketOutboxTests {
    /// On many threads, the end of a subscription does not replace the state of the next one that has the sink.
    @Test(.timeLimit(.minutes(1)))
    func theStateIsThatOfTheSubscriptionWithTheSink() async {
        let outbox = WebSocketSink().outbox
        let wrong = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var wrong = 0
                    for _ in 0..<20_000 {
                        guard let outlet = outbox.take(for: nil) else { continue }
                        outlet.show(.connecting)
                        if outbox.state.value != .connecting { wrong += 1 }
                        outlet.release()
                    }
                    return wrong
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
        #expect(outbox.state.value == .idle)
    }
}
