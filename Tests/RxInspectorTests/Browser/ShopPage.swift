#if Inspector
import Foundation
import PlaygroundServer
@testable import RxInspector
import RxNetworking
import Testing

/// The page of streams in Chromium, with a visit to the shop.
enum ShopPage {
    /// The folder of the screenshots, which are kept.
    static let pictures = URL(filePath: ".build/inspector")

    /// Runs `body` with a page that shows a visit to the shop.
    ///
    /// - Parameter zone: the time zone of the browser; `nil` for that of the machine.
    static func open(
        inZone zone: String? = nil, _ body: (Browser, Inspector, ShopVisit) async throws -> Void
    ) async throws {
        let api = try await DemoAPI.start()
        let visit = ShopVisit(api)
        let inspector = try await Inspector.startForTests(visit.client)
        let browser = try await Browser.start()
        visit.begin()
        do {
            if let zone {
                try await browser.call("Emulation.setTimezoneOverride", ["timezoneId": .string(zone)])
            }
            try await browser.open(inspector.pageURL)
            try await browser.wait(for: "document.querySelector('#state').dataset.is === 'live'")
            try await visit.play()
            try await browser.wait(for: "document.querySelectorAll('.request .good').length >= 4")
            try await body(browser, inspector, visit)
            #expect(browser.problems == [])
        } catch {
            Issue.record(error)
        }
        visit.end()
        browser.stop()
        await inspector.stop()
        await api.stop()
    }

    /// Opens the page with its connection as the variable `feed`, and the text of all messages as `fed`.
    static func openWithFeed(_ inspector: Inspector, in browser: Browser) async throws {
        try await browser.call(
            "Page.addScriptToEvaluateOnNewDocument",
            [
                "source": """
                window.fed = "";
                window.WebSocket = class extends WebSocket {
                  constructor(...words) {
                    super(...words);
                    window.feed = this;
                    this.addEventListener("message", event => window.fed += event.data);
                  }
                };
                """
            ])
        try await browser.open(inspector.pageURL)
        try await browser.wait(for: "document.querySelector('#state').dataset.is === 'live'")
    }
}

extension Browser {
    /// The text that a script returns.
    func text(_ script: String) async throws -> String { try await run(script).string ?? "" }

    /// The number that a script returns.
    func number(_ script: String) async throws -> Double { try await run(script).number ?? .nan }

    /// Clicks an element by its selector, as a script does.
    func click(_ selector: String) async throws {
        guard
            try await run("(() => { const it = \(Self.find(selector)); it?.click(); return !!it; })()")
                == true
        else { throw Failure(description: "there is no \(selector)") }
    }

    /// Chooses an option of a list.
    func choose(_ value: String, in selector: String) async throws {
        try await run(
            """
            (() => {
              const list = \(Self.find(selector));
              list.value = '\(value)';
              list.dispatchEvent(new Event('change'));
            })()
            """)
    }

    /// Moves the mouse to the element that a script returns, and presses its button there if `clicks`.
    ///
    /// The page hides its list when it scrolls, and is told so with the next frame: the mouse comes after that.
    func point(at script: String, clicks: Bool = false) async throws {
        let place = try await run(
            """
            (async () => {
              (\(script)).scrollIntoView({ block: "nearest" });
              for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
              const box = (\(script)).getBoundingClientRect();
              return [box.left + box.width / 2, box.top + box.height / 2];
            })()
            """)
        let (x, y) = (place.elements?.first ?? 0, place.elements?.last ?? 0)
        try await call("Input.dispatchMouseEvent", ["type": "mouseMoved", "x": x, "y": y])
        guard clicks else { return }
        for type in ["mousePressed", "mouseReleased"] {
            try await call(
                "Input.dispatchMouseEvent",
                ["type": .string(type), "x": x, "y": y, "button": "left", "clickCount": 1])
        }
    }

    private static func find(_ selector: String) -> String { "document.querySelector(`\(selector)`)" }
}
#endif
