#if Inspector
import RxInspector
import RxNetworking
import Testing

@Suite struct ServerTests {
    @Test func theTargetIsListedBehindTheToken() async throws {
        let inspector = try await Inspector.start()
        let client = Client(baseURL: inspector.pageURL)
        let list = try await client.get("json/list").value()
        #expect(list.text.contains("webSocketDebuggerUrl"))
        await inspector.stop()
    }
}
#endif
