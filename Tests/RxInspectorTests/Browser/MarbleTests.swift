#if Inspector
import Foundation
@testable import RxInspector
import RxNetworking
import Testing

extension StreamTests {
    /// The part of the page that shows values and time.
    @Suite(.serialized, .enabled(if: Browser.isInstalled), .timeLimit(.minutes(3)))
    struct MarbleTests {
        /// The marbles and ends of each row that stand over each other.
        private static let overlaps = """
            (() => {
              const found = [];
              for (const row of streamsPage.model.rows) {
                const parts = [...row.plane.querySelectorAll(".marble, .end")].map(part => ({ part, box: part.getBoundingClientRect() }))
                  .sort((a, b) => a.box.left - b.box.left);
                for (let index = 1; index < parts.length; index++) {
                  if (parts[index].box.left < parts[index - 1].box.right - 0.5)
                    found.push(`${row.name}: ${parts[index - 1].part.textContent} and ${parts[index].part.textContent}`);
                }
              }
              return found;
            })()
            """
        /// The marbles of one value, each with its text and the value's.
        private static let texts = """
            [...document.querySelectorAll(".marble:not(.group)")].map(marble => [marble.textContent,
              marble.marble.events[0].item.text.replace(/\\s+/g, " "), marble.scrollWidth > marble.clientWidth])
            """

        @Test func marblesNeitherOverlapNorShowAWrongValue() async throws {
            try await ShopPage.open { browser, _, _ in
                let codes = Signal<Int>()
                let subscription = codes.observable
                    .flatMap(.latest) { Observable<Int, Never>.just($0).inspected("answer") }
                    .inspected("codes").subscribe()
                for code in 0..<12 {
                    codes.send(code * 17 + 200)
                    try await Task.sleep(for: .milliseconds(40 * code))
                }
                try await browser.wait(
                    for: "[...streamsPage.model.marbles.values()].some(item => item.text === '387')")
                try await browser.click("#freeze")
                var (cut, whole) = (0, 0)
                for span in ["1000", "5000", "15000", "60000"] {
                    try await browser.choose(span, in: "#window")
                    #expect(try await browser.run(Self.overlaps) == [], "at \(span) ms")
                    for marble in try await browser.run(Self.texts).elements ?? [] {
                        let parts = marble.elements ?? []
                        let (shown, value) = (parts[0].string ?? "", parts[1].string ?? "")
                        #expect(parts[2] == false, "\(shown) is wider than its marble")
                        if shown == value {
                            whole += 1
                        } else {
                            cut += 1
                            #expect(
                                shown.hasSuffix("…") && value.hasPrefix(shown.dropLast()),
                                "\(value) reads \(shown)")
                        }
                    }
                }
                #expect(cut > 0 && whole > 0)
                subscription.cancel()
            }
        }

        @Test func aGroupOpens() async throws {
            try await ShopPage.open { browser, _, _ in
                let burst = Signal<Int>()
                let subscription = burst.observable.inspected("burst").subscribe()
                for value in 0..<6 {
                    burst.send(1000 + value)
                    try await Task.sleep(for: .milliseconds(30))
                }
                let last = "[...streamsPage.model.marbles.values()].some(item => item.text === '1005')"
                try await browser.wait(for: last)
                try await browser.click("#freeze")
                try await browser.choose("60000", in: "#window")
                let group =
                    "streamsPage.model.rows.find(row => row.name === 'burst').plane.querySelector('.marble')"
                #expect(try await browser.text("\(group).textContent") == "×6")
                try await browser.point(at: group)
                try await browser.wait(for: "!document.querySelector('#peek').hidden")
                let list =
                    "[...document.querySelectorAll('#peek .entry span')].map(entry => entry.textContent).join()"
                #expect(try await browser.text(list) == "1000,1001,1002,1003,1004,1005")
                try await browser.point(at: "document.querySelector('h1')")
                try await browser.wait(for: "document.querySelector('#peek').hidden")
                // A click keeps the list, and the details have it too.
                try await browser.point(at: group, clicks: true)
                try await browser.point(at: "document.querySelector('h1')")
                #expect(try await browser.text(list) == "1000,1001,1002,1003,1004,1005")
                #expect(try await browser.run("document.querySelector('#peek').hidden") == false)
                #expect(
                    try await browser.text("document.querySelector('#details h2').textContent") == "6 values")
                try await browser.screenshot(to: ShopPage.pictures.appending(path: "group.png"))
                try await browser.point(
                    at: "document.querySelector('#peek li:nth-child(3) .entry')", clicks: true)
                #expect(
                    try await browser.text("document.querySelector('#details pre').textContent") == "1002")
                #expect(try await browser.run("document.querySelector('#peek').hidden") == true)
                // Where there is room, each value has its marble.
                try await browser.point(at: group, clicks: true)
                try await browser.click("#details .tools button")
                let marbles =
                    "[...streamsPage.model.rows.find(row => row.name === 'burst').plane.querySelectorAll('.marble')]"
                #expect(
                    try await browser.text("\(marbles).map(marble => marble.textContent).join()")
                        == "1000,1001,1002,1003,1004,1005")
                subscription.cancel()
            }
        }

        @Test func theReaderZoomsAndReturns() async throws {
            try await ShopPage.open { browser, _, _ in
                let span = "streamsPage.time.span"
                try await browser.click("#zoom-in")
                #expect(try await browser.number(span) == 7500)
                #expect(
                    try await browser.text("document.querySelector('#window').selectedOptions[0].textContent")
                        == "7.5 s")
                try await browser.press("-")
                #expect(try await browser.number(span) == 15_000)
                #expect(
                    try await browser.text("document.querySelector('#window').selectedOptions[0].textContent")
                        == "15 s")
                // With the wheel, the time below the pointer stays there.
                try await browser.click("#freeze")
                let under = "(() => { const time = streamsPage.time; return time.frozen - time.span / 2; })()"
                let middle =
                    "(() => { const box = document.querySelector('#axis').getBoundingClientRect(); return box.left + (box.width - 128) / 2; })()"
                let before = try await browser.number(under)
                try await browser.call(
                    "Input.dispatchMouseEvent",
                    [
                        "type": "mouseWheel", "x": .number(try await browser.number(middle)), "y": 300,
                        "deltaX": 0, "deltaY": -60, "modifiers": 2,
                    ])
                try await browser.wait(for: "\(span) < 15_000")
                #expect(abs(try await browser.number(under) - before) < 40)
                // Rows whose time is out of view stay, with a way there.
                try await browser.choose("1000", in: "#window")
                let all = try await browser.number("document.querySelectorAll('.request').length")
                #expect(
                    try await browser.number("document.querySelectorAll('.request:not([hidden])').length")
                        == all)
                #expect(try await browser.number("document.querySelectorAll('.request.away').length") > 0)
                try await browser.click(".request.away .pointer")
                #expect(
                    try await browser.run("document.querySelector('.request').classList.contains('away')")
                        == false)
                #expect(try await browser.number("document.querySelectorAll('.request .bar').length") > 0)
                try await browser.click("#in-view")
                #expect(
                    try await browser.number("document.querySelectorAll('.row.away:not([hidden])').length")
                        == 0)
                #expect(
                    try await browser.number("document.querySelectorAll('.request:not([hidden])').length")
                        < all)
                try await browser.click("#in-view")
                try await browser.click("#fit")
                #expect(try await browser.number("document.querySelectorAll('.row.away').length") == 0)
            }
        }

        @Test func localTimeStandsBesideUTC() async throws {
            try await ShopPage.open(inZone: "Asia/Kolkata") { browser, _, _ in
                try await browser.click("#freeze")
                try await browser.wait(for: "document.querySelector('.tick small')")
                let local = try await browser.text("document.querySelector('#local').textContent")
                let utc = try await browser.text("document.querySelector('#utc').textContent")
                #expect(local.hasSuffix(" UTC+5:30") && utc.hasSuffix(" UTC"))
                #expect(Self.minutes(local, after: utc) == 330)
                let tick = "document.querySelector('.tick')"
                let small = try await browser.text("\(tick).querySelector('small').textContent")
                #expect(Self.minutes(try await browser.text("\(tick).firstChild.data"), after: small) == 330)
                try await browser.click(".request")
                let details = try await browser.text("document.querySelector('#details').innerText")
                #expect(details.contains(#/Began\s+[\d:.]+ UTC\+5:30 · [\d:.]+ UTC/#))
            }
        }

        /// The minutes from one time of day to another.
        private static func minutes(_ time: String, after other: String) -> Int {
            func minute(_ text: String) -> Int {
                let parts = text.split(separator: ":").prefix(2).compactMap { Int($0) }
                return parts.count == 2 ? parts[0] * 60 + parts[1] : Int.min / 4
            }
            return (minute(time) - minute(other) + 1440) % 1440
        }

        /// The texts whose contrast is below 4.5, the least of WCAG 2.2, 1.4.3.
        private static let faint = """
            (() => {
              const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
              const read = color => {
                canvas.clearRect(0, 0, 1, 1);
                canvas.fillStyle = color;
                canvas.fillRect(0, 0, 1, 1);
                return [...canvas.getImageData(0, 0, 1, 1).data];
              };
              const luminance = color => color.slice(0, 3).map(part => part / 255)
                .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
                .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
              const ground = element => {
                const layers = [];
                for (let up = element; up; up = up.parentElement) {
                  layers.unshift(read(getComputedStyle(up).backgroundColor));
                  if (layers[0][3] === 255) break;
                }
                return layers.reduce((below, layer) => below.map((part, index) => part + (layer[index] - part) * layer[3] / 255));
              };
              const faint = new Set();
              for (const element of document.querySelectorAll("body *")) {
                const hasText = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
                if (!hasText || element.closest(".hidden, option") || !element.checkVisibility({ visibilityProperty: true })) continue;
                const [a, b] = [luminance(read(getComputedStyle(element).color)), luminance(ground(element))].sort((a, b) => b - a);
                if ((a + 0.05) / (b + 0.05) < 4.5) faint.add(`${element.tagName}.${element.className}: ${element.textContent.slice(0, 20)}`);
              }
              return [...faint];
            })()
            """

        @Test func allTextIsReadableInBothColourSchemes() async throws {
            try await ShopPage.open { browser, _, _ in
                try await browser.click("#freeze")
                try await browser.click(".request")
                try await browser.wait(for: "document.querySelector('#details .headers')")
                for scheme in ["light", "dark"] {
                    try await browser.prefer(scheme)
                    #expect(try await browser.run(Self.faint) == [], "\(scheme)")
                    try await browser.screenshot(
                        to: ShopPage.pictures.appending(path: "request-\(scheme).png"))
                }
                let grounds = "getComputedStyle(document.body).backgroundColor"
                let dark = try await browser.text(grounds)
                try await browser.prefer("light")
                #expect(try await browser.text(grounds) != dark)
            }
        }
    }
}
#endif
