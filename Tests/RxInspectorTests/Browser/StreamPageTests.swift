#if Inspector
import Foundation
@testable import RxInspector
import RxNetworking
import RxTesting
import Testing

extension StreamTests {
    /// The page of streams in Chromium, which Tests/streams.sh installs.
    @Suite(.serialized, .enabled(if: Browser.isInstalled), .timeLimit(.minutes(3)))
    struct StreamPageTests {
        /// The picture: everything in the visible rows, its place, and the cards.
        private func picture(_ browser: Browser) async throws -> String {
            try await browser.run(
                """
                new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
                  const rows = [...document.querySelectorAll(".scroll .row:not([hidden])")];
                  const parts = rows.flatMap(row => [row, ...row.querySelectorAll("*")]);
                  done(parts.map(part => [part.className, part.childElementCount ? "" : part.textContent, part.style.left,
                    part.style.width, part.getAttribute("aria-label")].join("|")).join("\\n")
                    + document.querySelector("#cards").innerText + document.querySelector("#scroll").style.cssText);
                })))
                """
            ).string ?? ""
        }

        @Test func freezeKeepsThePicture() async throws {
            try await ShopPage.open { browser, inspector, visit in
                try await ShopPage.openWithFeed(inspector, in: browser)
                let (pulse, late) = (Signal<Int>(), Signal<String>())
                let subscription = pulse.observable.inspected("pulse").subscribe()
                let open = visit.client.get("/download", query: ["size": 200_000, "rate": 20_000]).subscribe(
                    onFailure: { _ in })
                for value in 0..<3 { pulse.send(value) }
                try await browser.wait(for: "document.querySelectorAll('.bar.running').length === 1")
                try await browser.wait(
                    for: """
                        [...document.querySelectorAll('#streams .row:not([hidden])')].some(row => row.row.name === 'pulse'
                          && row.querySelector('.marble'))
                        """)
                try await browser.run("document.querySelector('#freeze').click()")
                let before = try await picture(browser)
                #expect(before.contains("pulse"))
                // More values of the last marble's stream than are drawn alone, further streams and requests, and ends.
                for value in 0..<500 { pulse.send(value) }
                let other = late.observable.inspected("late").subscribe()
                late.send("after the freeze")
                _ = try await visit.client.get("/offers").value()
                visit.cart.update { $0.append("sugar") }
                open.cancel()
                subscription.cancel()
                late.send("the end of it")
                try await browser.wait(
                    for: "fed.includes('the end of it') && fed.includes('\"state\":\"cancelled\"')")
                let after = try await picture(browser)
                let lines = (Set(before.split(separator: "\n")), Set(after.split(separator: "\n")))
                #expect(lines.0.symmetricDifference(lines.1).sorted() == [])
                try await browser.press(".")
                #expect(try await browser.run("streamsPage.jsonText().includes('the end of it')") == false)
                // Live again, it shows what has come.
                try await browser.press("f")
                try await browser.wait(for: "streamsPage.jsonText().includes('the end of it')")
                #expect(try await browser.run("document.querySelectorAll('.bar.running').length") == 0)
                #expect(try await picture(browser) != before)
                other.cancel()
            }
        }

        @Test func aWebSocketHasItsBar() async throws {
            try await ShopPage.open { browser, _, visit in
                let sink = WebSocketSink()
                let socket = visit.client.webSocket("/chat", sending: sink).subscribe(onFailure: { _ in })
                _ = try await sink.send("hello").value()
                func bar(_ script: String) -> String {
                    """
                    [...document.querySelectorAll('.request')].filter(row => row.request.path === '/chat')
                      .map(row => row.querySelector('.bar')).some(bar => bar && \(script))
                    """
                }
                // A bar that is wider than the least of 3 pixels covers more than the handshake.
                try await browser.wait(for: bar("bar.classList.contains('running') && bar.offsetWidth > 6"))
                socket.cancel()
                try await browser.wait(for: bar("!bar.classList.contains('running')"))
                let background = "getComputedStyle(bar).backgroundColor"
                #expect(
                    try await browser.run(bar("\(background) !== 'rgba(0, 0, 0, 0)' && bar.offsetWidth > 3"))
                        == true)
            }
        }

        @Test func thePageShowsStreamsRequestsAndTheirLinks() async throws {
            try await ShopPage.open { browser, _, _ in
                func text(_ script: String) async throws -> String {
                    try await browser.run(script).string ?? ""
                }
                let rows = try await text(
                    "[...document.querySelectorAll('#streams .row .label b')].map(row => row.textContent).join()"
                )
                #expect(rows == "search,flatMap,cart,goods list,prices,chat,held prices")
                // Values are text, whatever they contain.
                #expect(try await text("document.title").hasPrefix("Streams of "))
                #expect(try await browser.run("document.querySelectorAll('img, i i').length").integer == 0)
                let labels = try await text(
                    "[...document.querySelectorAll('.marble, .end')].map(mark => mark.getAttribute('aria-label')).join('\\n')"
                )
                #expect(labels.contains("chat #1: <img src=x onerror="))
                #expect(labels.contains("chat #1: failed: the <i>other</i> side hung up"))
                #expect(labels.contains("search: tea"))
                #expect(labels.contains("search ▸ flatMap: cancelled"))
                #expect(labels.contains("held prices #1: cancelled"))
                #expect(try await browser.run("document.querySelectorAll('.pause').length").integer == 1)
                // 5,000 values at once are counted, and the page says so.
                try await browser.wait(for: "!document.querySelector('#sampling').hidden")
                let count = try await text(
                    "[...document.querySelectorAll('#streams .row')].find(row => row.row.name === 'prices').querySelector('.n').textContent"
                )
                #expect(count == "5,001")
                let cards = try await text("document.querySelector('#cards').innerText")
                for part in ["logged in", "generation 0", "closed", "30 of 47 items"] {
                    #expect(cards.contains(part))
                }

                // A marble leads to its request, and the request to its marble.
                try await browser.run("document.querySelector('#freeze').click()")
                try await browser.run(
                    "[...document.querySelectorAll('.marble.led')].find(mark => mark.getAttribute('aria-label') === 'search: tea').click()"
                )
                let details = try await text("document.querySelector('#details').innerText")
                #expect(details.contains("tea") && details.contains("Led to a request"))
                #expect(details.contains("/goods/7?q=tea"))
                #expect(
                    try await browser.run("document.querySelectorAll('.request.link').length").integer == 1)
                try await browser.wait(
                    for: "document.querySelector('#wire path').getAttribute('d').length > 10")
                for scheme in ["light", "dark"] {
                    try await browser.prefer(scheme)
                    try await browser.screenshot(
                        to: ShopPage.pictures.appending(path: "streams-\(scheme).png"))
                }
                try await browser.run("document.querySelector('.request.link').click()")
                let request = try await text("document.querySelector('#details').innerText")
                #expect(request.contains("Led by") && request.contains("search: tea"))
            }
        }

        @Test func theKeyboardReachesEverything() async throws {
            try await ShopPage.open { browser, _, _ in
                func focused() async throws -> String {
                    try await browser.run("document.activeElement.getAttribute('aria-label') ?? ''").string
                        ?? ""
                }
                try await browser.press("f")
                try await browser.wait(for: "document.querySelector('#state').dataset.is === 'frozen'")
                try await browser.run("document.querySelector('#streams .row').focus()")
                #expect(try await focused().hasPrefix("search, 4 values"))
                try await browser.press("ArrowRight")
                #expect(try await focused().hasPrefix("search: "))
                try await browser.press("ArrowDown")
                #expect(try await focused().hasPrefix("search ▸ flatMap: "))
                try await browser.press("Escape")
                #expect(
                    try await browser.run("document.querySelector('#details h2').textContent")
                        == "Nothing selected")
                try await browser.press("/")
                try await browser.run(
                    "document.querySelector('#find').value = 'CART'; document.querySelector('#find').dispatchEvent(new Event('input'))"
                )
                let rows = try await browser.run(
                    "[...document.querySelectorAll('#streams .row:not([hidden]) b')].map(row => row.textContent).join()"
                )
                #expect(rows == "cart")
                let nodes = try await browser.call("Accessibility.getFullAXTree")["nodes"]?.elements ?? []
                let roles = nodes.filter { $0["ignored"]?.bool != true }.compactMap {
                    $0["role"]?["value"]?.string
                }
                for role in ["grid", "row", "rowheader", "gridcell", "searchbox", "status", "complementary"] {
                    #expect(roles.contains(role), "no \(role)")
                }
                let nameless = nodes.filter { node in
                    ["button", "row", "searchbox", "combobox"].contains(node["role"]?["value"]?.string ?? "")
                        && node["ignored"]?.bool != true && (node["name"]?["value"]?.string ?? "").isEmpty
                }
                #expect(nameless.isEmpty)
            }
        }

        @Test func aLostConnectionLosesNothingThatIsShown() async throws {
            try await ShopPage.open { browser, inspector, _ in
                try await ShopPage.openWithFeed(inspector, in: browser)
                func track(_ name: String) -> String {
                    "JSON.parse(streamsPage.jsonText()).tracks.find(track => track.name === '\(name)')"
                }
                let pot = MutableProperty("empty").inspected("pot")
                let brief = Signal<Int>()
                let subscription = brief.observable.inspected("brief").subscribe()
                pot.value = "half"
                try await browser.wait(for: "\(track("pot"))?.values.some(value => value.text === 'half')")
                try await browser.wait(for: "\(track("brief"))")
                try await browser.run("document.querySelector('#freeze').click(); feed.close()")
                try await browser.wait(for: "document.querySelector('#state').dataset.is === 'lost'")
                subscription.cancel()
                pot.value = "full"
                try await browser.wait(for: "document.querySelector('#state').dataset.is === 'frozen'")
                try await browser.run("document.querySelector('#freeze').click()")
                try await browser.wait(for: "\(track("pot")).values.some(value => value.text === 'full')")
                #expect(
                    try await browser.run("\(track("pot")).values.map(value => value.text).join()")
                        == "empty,half,full")
                #expect(try await browser.run("\(track("brief")).how") == "missed")
                // Without a choice of the user, the page is live again.
                try await browser.run("feed.close()")
                try await browser.wait(for: "document.querySelector('#state').dataset.is === 'lost'")
                try await browser.wait(for: "document.querySelector('#state').dataset.is === 'live'")
            }
        }

        @Test func theMarblesCanBePastedIntoATest() async throws {
            try await ShopPage.open { browser, _, _ in
                let source = try await browser.run("streamsPage.marblesSource()").string ?? ""
                #expect(source.contains("let search: MarbleSource<String, Never> = try clock.cold("))
                #expect(source.contains("let chat: MarbleSource<String, Recorded> = try clock.cold("))
                #expect(source.contains("since the page samples"))
                let diagrams = source.matches(of: #/try clock.cold\(\n    "([^"]+)"/#).map { String($0.1) }
                #expect(diagrams.count >= 7)
                let letters = Dictionary(
                    uniqueKeysWithValues: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".map {
                        ($0, "\($0)")
                    })
                for diagram in diagrams {
                    let clock = VirtualScheduler()
                    let parsed: MarbleSource<String, ShopVisit.Hangup> = try clock.cold(
                        diagram, values: letters, error: ShopVisit.Hangup())
                    let recorder = Recorder(parsed.observable, on: clock)
                    try clock.advance(by: .seconds(600))
                    #expect(!recorder.events.isEmpty || diagram == "-")
                }
                let json = try await browser.run("streamsPage.jsonText()").string ?? ""
                let document = try #require(JSON(parsing: json))
                #expect(document["tracks"]?.elements?.contains { $0["name"]?.string == "cart" } == true)
                let har = try await browser.run("fetch('har').then(response => response.text())").string ?? ""
                let archive = try JSONDecoder().decode(HAR.self, from: Data(har.utf8))
                #expect(archive.log.entries.contains { $0.request.url.contains("/goods/7") })
            }
        }
    }
}
#endif
