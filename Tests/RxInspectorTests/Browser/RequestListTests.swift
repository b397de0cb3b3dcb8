#if Inspector
import Foundation
@testable import RxInspector
import RxNetworking
import RxTesting
import Testing

extension StreamTests {
    /// The part of the page that shows requests.
    @Suite(.serialized, .enabled(if: Browser.isInstalled), .timeLimit(.minutes(3)))
    struct RequestListTests {
        /// Whether the newest request is between the edges of its pane.
        private static let isNewestInView = """
            (() => {
              const row = [...streamsPage.model.requests.values()].reduce((a, b) => b.t >= a.t ? b : a).row.getBoundingClientRect();
              const pane = document.querySelector("#requests-pane").getBoundingClientRect();
              return row.bottom <= pane.bottom + 1 && row.top >= pane.top + 28;
            })()
            """

        @Test func theNewestRequestIsInViewUntilTheReaderScrolls() async throws {
            try await ShopPage.open { browser, _, visit in
                func load(_ count: Int) async throws {
                    let before = try await browser.number("streamsPage.model.requests.size")
                    for _ in 0..<count { _ = try await visit.client.get("/goods/7").value() }
                    try await browser.wait(for: "streamsPage.model.requests.size >= \(Int(before) + count)")
                }
                let isOffered = "!document.querySelector('#follow').hidden"
                try await load(40)
                #expect(try await browser.run(Self.isNewestInView) == true)
                #expect(try await browser.run(isOffered) == false)
                // Also in another order.
                try await browser.choose("took", in: "#sort")
                try await load(3)
                #expect(try await browser.run(Self.isNewestInView) == true)
                try await browser.choose("began", in: "#sort")
                try await load(1)
                try await browser.call(
                    "Input.dispatchMouseEvent",
                    ["type": "mouseWheel", "x": 500, "y": 700, "deltaX": 0, "deltaY": -500])
                try await browser.wait(for: isOffered)
                try await load(3)
                #expect(try await browser.run(Self.isNewestInView) == false)
                try await browser.click("#follow")
                #expect(try await browser.run(Self.isNewestInView) == true)
                #expect(try await browser.run(isOffered) == false)
                try await load(3)
                #expect(try await browser.run(Self.isNewestInView) == true)
            }
        }

        @Test func requestsAreSorted() async throws {
            try await ShopPage.open { browser, inspector, _ in
                try await browser.click("#freeze")
                func sorted(by value: String) async throws -> [JSON] {
                    try await browser.run(
                        "[...document.querySelectorAll('.request')].map(row => row.request).map(request => \(value))"
                    ).elements ?? []
                }
                for (key, value) in [
                    ("began", "request.t"), ("size", "request.bytes"),
                    ("took", "request.end - request.t"),
                ] {
                    try await browser.choose(key, in: "#sort")
                    let numbers = try await sorted(by: value).compactMap(\.number)
                    #expect(numbers.count >= 7 && numbers == numbers.sorted(), "\(key)")
                }
                try await browser.choose("path", in: "#sort")
                let paths = try await sorted(by: "request.path").compactMap(\.string)
                #expect(
                    paths.first?.hasPrefix("/download") == true && paths.last?.hasPrefix("/offers") == true)
                try await browser.click("#direction")
                let turned = try await sorted(by: "request.path").compactMap(\.string)
                #expect(
                    turned.first?.hasPrefix("/offers") == true && turned.last?.hasPrefix("/download") == true)
                // The browser keeps the choice.
                try await browser.open(inspector.pageURL)
                try await browser.wait(
                    for:
                        "document.querySelector('#sort')?.value === 'path' && document.querySelectorAll('.request').length >= 7"
                )
                #expect(try await sorted(by: "request.path").first?.string?.hasPrefix("/offers") == true)
            }
        }

        @Test func aRequestShowsItsHeadersItsBodiesAndItsCommand() async throws {
            try await ShopPage.open { browser, inspector, _ in
                // The clipboard is for pages in front.
                try await browser.call("Emulation.setFocusEmulationEnabled", ["enabled": true])
                try await browser.call(
                    "Browser.grantPermissions",
                    ["permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]])
                let clock = VirtualScheduler()
                let body = #"{"name":"ada","token":"canary8","id":12345678901234567890,"tags":[]}"#
                let client = Client(
                    baseURL: "https://a.test",
                    transport: ScriptedTransport(on: clock, [.when(.post, "/login", .json(body))]))
                inspector.inspect(client)
                _ = Recorder(
                    client.post(
                        "/login", ["user": "ada", "password": "canary8"], headers: ["X-Shop": "<b>tea</b>"]),
                    on: clock)
                try clock.run()
                let row =
                    "[...document.querySelectorAll('.request')].find(row => row.request.path === '/login')"
                try await browser.wait(for: "\(row)?.request.end")
                try await browser.run("\(row).click()")
                try await browser.wait(for: "document.querySelectorAll('#details .headers').length === 2")
                let details = try await browser.text("document.querySelector('#details').innerText")
                for part in [
                    "X-Shop", "<b>tea</b>", "Content-Type", "\"user\": \"ada\"", "\"name\": \"ada\"",
                    "\"tags\": []",
                ] {
                    #expect(details.contains(part), "no \(part)")
                }
                // All its digits, and no secret.
                #expect(details.contains("12345678901234567890"))
                #expect(!details.contains("canary8"))
                #expect(try await browser.number("document.querySelectorAll('#details b').length") == 0)
                try await browser.click("[data-tool=curl]")
                try await browser.wait(for: "document.querySelector('.answer').innerText.includes('Copied')")
                let number = try await browser.text("\(row).request.id.slice(1)")
                let text = try await Client(baseURL: "").get("\(inspector.pageURL)request?\(number)").value()
                    .text
                let command = try #require(JSON(parsing: text)?["curl"]?.string)
                #expect(command.hasPrefix("curl ") && command.contains("/login"))
                #expect(try await browser.text("navigator.clipboard.readText()") == command)
            }
        }

        @Test func aRequestLeadsToItsRowInThePanel() async throws {
            try await ShopPage.open { browser, inspector, _ in
                try await browser.click(".request")
                try await browser.click("[data-tool=panel]")
                try await browser.wait(for: "document.querySelector('.answer .address')")
                let number = try await browser.text("document.querySelector('.request').request.id")
                let answer = try await browser.text("document.querySelector('.answer').innerText")
                #expect(answer.contains(inspector.devToolsURL) && answer.contains("request \(number) "))
                // The panel that opens now, and the open one.
                let panel = FrontEndProbe(inspector)
                try await panel.call("Network.enable")
                for isOpen in [false, true] {
                    if isOpen {
                        try await browser.click("[data-tool=panel]")
                        try await browser.wait(for: "document.querySelector('.answer .good')")
                    }
                    let entry = try await panel.event("Log.entryAdded")["entry"]
                    #expect(entry?["networkRequestId"]?.string?.hasPrefix("\(number.dropFirst()).") == true)
                }
            }
        }

        @Test func clientsAreShownByTheirNames() async throws {
            try await ShopPage.open { browser, inspector, visit in
                let clock = VirtualScheduler()
                let orders = Client(
                    baseURL: "https://a.test",
                    transport: ScriptedTransport(on: clock, [.when(.get, "/orders", .json("[]"))]))
                inspector.inspect(orders, named: "orders")
                _ = Recorder(orders.get("/orders"), on: clock)
                try clock.run()
                let row =
                    "[...document.querySelectorAll('.request')].find(row => row.request.path === '/orders')"
                try await browser.wait(for: "\(row)")
                #expect(try await browser.text("\(row).querySelector('.client').innerText") == "orders")
                #expect(
                    try await browser.text("document.querySelector('#cards').innerText").contains("orders"))
                try await browser.run("\(row).click()")
                #expect(
                    try await browser.text("document.querySelector('#details').innerText").contains(
                        #/Client\s+orders/#))
                try await browser.choose("orders", in: "#client")
                #expect(
                    try await browser.text(
                        "[...document.querySelectorAll('.request:not([hidden])')].map(row => row.request.path).join()"
                    )
                        == "/orders")
                #expect(inspector.site.clientNames == [visit.client.inspectedName, "orders"])
                withExtendedLifetime(orders) {}
            }
        }
    }
}
#endif
