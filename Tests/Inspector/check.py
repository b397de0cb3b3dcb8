"""Opens Chrome's own developer tools against the inspector of the tour, and reads their Network panel.

    check.py URL SCREENSHOTS

URL is the address of the panel that the inspector prints; SCREENSHOTS is a folder.
"""
import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

#: Seconds.
LIMIT = 60

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


def chromium():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,800"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def check(url, folder):
    folder = pathlib.Path(folder)
    driver = chromium()

    def wait(condition, message):
        return WebDriverWait(driver, LIMIT).until(lambda _: condition(), message)

    def rows():
        return driver.execute_script(ROWS, ROW)

    def filtered(text, fits, message):
        """The rows with the text in their name, once they fit."""
        driver.execute_script(FIND + "found[0].focus()", ".text-prompt")
        keys = ActionChains(driver).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL)
        keys.send_keys(Keys.DELETE, text).perform()
        wait(lambda: rows() and all(text in row["name"] for row in rows()) and fits(rows()), message)
        return rows()

    def open_tab(row, tab):
        wait(lambda: driver.execute_script(CLICK, f"{ROW} .name-column", row), f"there is no row {row}")
        wait(lambda: driver.execute_script(CLICK, "[role=tab]", tab), f"the row {row} has no tab {tab}")

    def shows(text):
        wait(lambda: text in driver.execute_script(TEXT), f"the panel does not show {text}")

    def close():
        driver.execute_script(FIND + "found.at(-1)?.click()", "[aria-label='Close'], [title='Close']")

    def has(name, text):
        return lambda rows: any(text in row.get(name, "") for row in rows)

    try:
        driver.get(url)
        wait(lambda: len(rows()) >= 10, "the panel shows no rows")
        driver.save_screenshot(str(folder / "network-panel.png"))

        filtered("flaky", lambda rows: [row["status"][:3] for row in rows].count("503") >= 2
                 and has("status", "200")(rows), "each attempt has a row")
        filtered("brochure", has("status", "partialBody"), "a failure shows the error")
        filtered("offers", has("size", "cache"), "a stored response is from the cache")
        filtered("login", has("initiator", "LogIn"), "the initiator is the endpoint")

        open_tab("login", "Response")
        shows('"token":"…"')
        open_tab("login", "Payload")
        shows("ada")
        open_tab("login", "Timing")
        shows("Waiting for server")
        driver.save_screenshot(str(folder / "network-timing.png"))
        open_tab("login", "Headers")
        shows("application/json")
        close()

        filtered("chat", has("status", "101"), "a WebSocket has a row")
        open_tab("chat", "Messages")
        shows("Sugar? Certainly.")
        close()
        filtered("prices", has("type", "eventsource"), "an event stream has a row")
        open_tab("prices", "EventStream")
        shows('"cents":')
    except Exception:
        driver.save_screenshot(str(folder / "failure.png"))
        print(rows(), file=sys.stderr)
        raise
    finally:
        driver.quit()
    assert (folder / "network-panel.png").stat().st_size > 20_000, "the screenshot is empty"
    print(f"The Network panel of {url.split('?')[0]} shows the tour. Its screenshots: {folder}")


if __name__ == "__main__":
    check(*sys.argv[1:])
