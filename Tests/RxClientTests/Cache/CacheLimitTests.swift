import HTTPTypes
import RxCache
import RxClient
import RxHTTP
import RxTesting
import Testing

/// Entries that a server builds up through several responses stay within limits.
@Suite struct CacheLimitTests {
    private static func fields(_ letter: String, _ count: Int) -> CacheStage.Fields {
        (0..<count).map { ("\(letter)\($0)", "") }
    }

    private static let tag = ("ETag", "\"a\"")

    /// A 304 whose fields do not match the stored ones leads to an unconditional request.
    @Test func tooManyFieldsTogether() throws {
        let stage = CacheStage([
            .fields([Self.tag, ("Cache-Control", "max-age=1")] + Self.fields("a", 33_000)),
            .fields([Self.tag] + Self.fields("b", 33_000), status: 304, body: ""),
            .fields([("Cache-Control", "max-age=600")], body: "newer"),
        ])
        try stage.send()
        try stage.wait(2)
        #expect(try stage.send().values.map(\.text) == ["newer"])
        #expect(stage.asked == 3)
        #expect(stage.transport.requests.last?.headerFields[.ifNoneMatch] == nil)
        #expect(try stage.send().values.map(\.text) == ["newer"])
        #expect(stage.asked == 3)
    }

    /// Repeated 304 responses do not make stored fields grow beyond the limit of a header section.
    @Test func manyConfirmations() throws {
        let block = String(repeating: "x", count: 100 << 10)
        let confirmations = (0..<9).map { number in
            ScriptedTransport.Reply.fields([Self.tag, ("n\(number)", block)], status: 304, body: "")
        }
        let stage = CacheStage([.fields([Self.tag])] + confirmations)
        for _ in 0..<10 {
            try stage.send()
            #expect(stage.cache.statistics.usage.bytes < 300 << 10)
        }
    }
}
