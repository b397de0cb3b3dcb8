#if Inspector
import Foundation
import PlaygroundServer
@testable import RxInspector
import RxNetworking
import Testing

/// The inspector in the developer tools of Chromium, which Tests/streams.sh installs.
@Suite(.serialized, .enabled(if: Browser.isInstalled), .timeLimit(.minutes(3)))
struct PanelTests {
    /// The names in the visible rows of the Network panel, which are in shadow roots.
    private static let names = """
        (() => {
          const names = [];
          const walk = root => {
            for (const element of root.querySelectorAll("*")) {
              if (element.matches("tr.data-grid-data-grid-node .name-column")) names.push(element.textContent);
              if (element.shadowRoot) walk(element.shadowRoot);
            }
          };
          walk(document);
          return names;
        })()
        """

    @Test func thePanelFindsNothingWrongWithTheMessages() async throws {
        let api = try await DemoAPI.start()
        var configuration = ClientConfiguration(baseURL: api.baseURL)
        configuration.options.retry = .never
        let client = Client(configuration: configuration, transport: CurlTransport.shared)
        let inspector = try await Inspector.startForTests(client)
        let browser = try await Browser.start()
        do {
            // A response that a late panel is told of, and those that it sees from their beginning.
            _ = try await client.get("/offers", query: ["first": 1]).value()
            try await browser.call("Page.navigate", ["url": .string(inspector.devToolsURL)])
            try await browser.wait(for: "\(Self.names).some(name => name.includes('first=1'))")
            // The head comes long before the end.
            _ = try await client.get("/download", query: ["size": 300_000, "rate": 300_000]).value()
            _ = try? await client.get("/no-such-page").value()
            let sink = WebSocketSink()
            let socket = client.webSocket("/chat", sending: sink).subscribe(onFailure: { _ in })
            _ = try await sink.send("hello").value()
            socket.cancel()
            _ = try await client.get("/offers", query: ["last": 1]).value()
            for name in ["download", "no-such-page", "chat", "last=1"] {
                try await browser.wait(for: "\(Self.names).some(name => name.includes('\(name)'))")
            }
            try await browser.screenshot(
                to: URL(filePath: ".build/inspector").appending(path: "panel.png"))
            #expect(browser.problems.filter { $0.contains("mismatch") } == [])
        } catch {
            Issue.record(error)
        }
        browser.stop()
        await inspector.stop()
        await api.stop()
    }
}
#endif
