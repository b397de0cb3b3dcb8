"""Opens Chrome's own developer tools against the inspector of the tour, and reads and operates their Network panel.

    inspector.py URL FOLDER INPUT

URL is the address of the panel that the inspector prints. FOLDER receives the screenshots, and the commands that the
panel has sent, as session.jsonl. INPUT is a pipe to the tour, which loads its offers for each line.
"""
import json
import pathlib
import re
import sys

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from chromium import chromium, save_screenshot, waiting

#: The parts of the panel are in shadow roots.
FIND = """
const found = [];
const walk = root => {
    for (const element of root.querySelectorAll("*")) {
        if (element.matches(arguments[0])) found.push(element);
        if (element.shadowRoot) walk(element.shadowRoot);
    }
};
walk(document);
"""
#: The visible rows, each as the texts of its cells.
ROWS = FIND + """
return found.map(row => Object.fromEntries([...row.querySelectorAll("td")].map(
    cell => [([...cell.classList].find(name => name.endsWith("-column")) ?? "").replace("-column", ""),
             cell.textContent.trim()])));
"""
ROW = "tr.data-grid-data-grid-node"
TEXT = """
const texts = [];
const walk = node => {
    if (node.nodeType === Node.TEXT_NODE) texts.push(node.data);
    if (["STYLE", "SCRIPT"].includes(node.tagName)) return;
    if (node.shadowRoot) walk(node.shadowRoot);
    node.childNodes.forEach(walk);
};
walk(document.body);
return texts.join("");
"""
#: Clicks the last element whose text begins as given.
CLICK = FIND + """
const target = found.findLast(element => element.textContent.trim().startsWith(arguments[1]));
if (!target) return false;
for (const type of ["mousedown", "mouseup", "click"])
    target.dispatchEvent(new MouseEvent(type, {bubbles: true, composed: true, cancelable: true, view: window}));
return true;
"""


#: Selects the option with the text, in the first list that has it.
SELECT = FIND + """
const list = found.find(list => [...list.options].some(option => option.text.trim() === arguments[1]));
if (!list) return false;
list.value = [...list.options].find(option => option.text.trim() === arguments[1]).value;
list.dispatchEvent(new Event("change", {bubbles: true, composed: true}));
return true;
"""
#: Switches the checkbox with the label.
CHECK = FIND + """
const box = found.find(box => (box.textContent + (box.title ?? "")).includes(arguments[1]));
if (!box) return false;
(box.shadowRoot?.querySelector("input") ?? box.querySelector("input") ?? box).click();
return true;
"""


class Panel:
    """The Network panel."""

    def __init__(self, driver):
        self.driver = driver
        self.wait = waiting(driver)

    def rows(self):
        return self.driver.execute_script(ROWS, ROW)

    def filtered(self, text, fits, message):
        """The rows with the text in their name, once they fit."""
        self.driver.execute_script(FIND + "found[0].focus()", ".text-prompt")
        keys = ActionChains(self.driver).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL)
        keys.send_keys(Keys.DELETE, text).perform()
        rows = self.rows
        self.wait(lambda: rows() and all(text in row["name"] for row in rows()) and fits(rows()), message)
        return rows()

    def open_tab(self, row, tab):
        run = self.driver.execute_script
        self.wait(lambda: run(CLICK, f"{ROW} .name-column", row), f"there is no row {row}")
        self.wait(lambda: run(CLICK, "[role=tab]", tab), f"the row {row} has no tab {tab}")

    def shows(self, text):
        self.wait(lambda: text in self.driver.execute_script(TEXT), f"the panel does not show {text}")

    def close_details(self):
        self.driver.execute_script(FIND + "found.at(-1)?.click()", "[aria-label='Close'], [title='Close']")

    def throttle(self, name):
        self.wait(lambda: self.driver.execute_script(SELECT, "select", name), f"there is no throttling {name}")

    def switch_cache(self):
        self.wait(lambda: self.driver.execute_script(CHECK, "devtools-checkbox, .toolbar-item label", "Disable cache"),
                  "there is no checkbox for the cache")


def has(name, text):
    return lambda rows: any(text in row.get(name, "") for row in rows)


def read_requests(panel, folder):
    """The requests of the tour's recipes."""
    panel.wait(lambda: len(panel.rows()) >= 10, "the panel shows no rows")
    save_screenshot(panel.driver, folder / "network-panel.png")

    panel.filtered("flaky", lambda rows: [row["status"][:3] for row in rows].count("503") >= 2
                   and has("status", "200")(rows), "each attempt has a row")
    panel.filtered("brochure", has("status", "partialBody"), "a failure shows the error")
    panel.filtered("offers", has("size", "cache"), "a stored response is from the cache")
    panel.filtered("login", has("initiator", "LogIn"), "the initiator is the endpoint")

    panel.open_tab("login", "Response")
    panel.shows('"token":"…"')
    panel.open_tab("login", "Payload")
    panel.shows("ada")
    panel.open_tab("login", "Timing")
    panel.shows("Waiting for server")
    save_screenshot(panel.driver, folder / "network-timing.png")
    panel.open_tab("login", "Headers")
    panel.shows("application/json")
    panel.close_details()

    panel.filtered("chat", has("status", "101"), "a WebSocket has a row")
    panel.open_tab("chat", "Messages")
    panel.shows("Sugar? Certainly.")
    panel.close_details()
    panel.filtered("prices", has("type", "eventsource"), "an event stream has a row")
    panel.open_tab("prices", "EventStream")
    panel.shows('"cents":')
    panel.close_details()


def operate(panel, load_offers):
    """Throttling and "Disable cache", on the tour's client."""

    def next_offers(fits, message):
        count = len(panel.filtered("offers", lambda _: True, "there are offers"))
        load_offers()
        panel.wait(lambda: len(panel.rows()) > count and fits(panel.rows()[-1]), message)
        return panel.rows()[-1]

    def is_cached(row):
        return "cache" in row["size"]

    def seconds(row):
        number, unit = re.match(r"([\d.,]+)\s*(ms|s)", row["time"]).groups()
        return float(number.replace(",", "")) / (1000 if unit == "ms" else 1)

    row = next_offers(lambda row: row["status"][:3] == "200", "the panel shows requests as they happen")
    assert re.fullmatch(r"Offers main\.swift:\d+(Parser)?", row["initiator"]), row["initiator"]
    next_offers(is_cached, "the second response is from the cache")
    panel.switch_cache()
    fast = next_offers(lambda row: row["status"][:3] == "200" and not is_cached(row) and row["time"][0].isdigit(),
                       "without a cache the server responds")
    panel.throttle("3G")
    next_offers(lambda row: row["time"][:1].isdigit() and seconds(row) > 0.5, "a throttled request takes longer")
    assert seconds(fast) < 0.5, f"without throttling a request takes {fast['time']}"
    panel.throttle("Offline")
    next_offers(lambda row: "failed" in row["status"] or "unreachable" in row["status"], "nothing can be sent offline")
    panel.throttle("No throttling")
    panel.switch_cache()
    next_offers(is_cached, "the cache is used again")


def shortened(value):
    """The value with its long texts, which are scripts, cut off."""
    if isinstance(value, dict):
        return {name: shortened(member) for name, member in value.items()}
    if isinstance(value, list):
        return [shortened(element) for element in value]
    return value[:100] if isinstance(value, str) else value


def session(driver):
    """The commands that the panel has sent to the inspector, after the name of the browser."""
    version = f"Chromium {driver.capabilities['browserVersion']}"
    events = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    frames = (event["params"]["response"]["payloadData"] for event in events
              if event["method"] == "Network.webSocketFrameSent")
    commands = (shortened(json.loads(frame)) for frame in frames)
    return "".join(json.dumps(line) + "\n" for line in [{"browser": version}, *commands])


def check(url, folder, pipe):
    folder = pathlib.Path(folder)

    def load_offers():
        with open(pipe, "w", encoding="utf-8") as tour:
            tour.write("offers\n")

    with chromium(1400, 800) as driver:
        panel = Panel(driver)
        try:
            driver.get(url)
            read_requests(panel, folder)
            operate(panel, load_offers)
            # What the panel's own code finds wrong with the inspector's messages.
            lines = [entry["message"] for entry in driver.get_log("browser")]
            found = [line for line in lines if "mismatch" in line or "Assertion failed" in line]
            assert not found, found
            (folder / "session.jsonl").write_text(session(driver), encoding="utf-8")
        except Exception:
            driver.save_screenshot(str(folder / "failure.png"))
            print(panel.rows(), file=sys.stderr)
            raise
    print(f"The Network panel of {url.split('?')[0]} shows the tour. Its screenshots: {folder}")


if __name__ == "__main__":
    check(*sys.argv[1:])
