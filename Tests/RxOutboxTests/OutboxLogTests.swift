#if Outbox && Logging
import HTTPTypes
import InMemoryLogging
import Logging
import RxHTTP
import RxLite
import RxOutbox
import RxTesting
import Testing

/// The log of an outbox.
@Suite struct OutboxLogTests {
    /// The log tells the life of an entry without the content of requests and the text of servers.
    @Test func life() throws {
        let fixture = OutboxFixture([
            .json("{\"message\":\"secret\"}", status: .serviceUnavailable),
            .json("{\"message\":\"secret\"}", status: .badRequest),
        ])
        let outbox = try fixture.outbox()
        let store = InMemoryLogHandler()
        var logger = Logger(label: "test") { _ in store }
        logger.logLevel = .trace
        outbox.events.log(to: logger)
        _ = try fixture.enqueue(outbox, 4711)
        try fixture.clock.advance(by: .seconds(60))
        let entries = store.entries
        #expect(entries.map(\.level) == [.debug, .debug, .notice, .debug, .warning])
        for entry in entries {
            let text = "\(entry.message) \(entry.metadata)"
            #expect(!text.contains("secret") && !text.contains("4711"))
        }
    }
}
#endif
