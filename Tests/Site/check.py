"""Opens the documentation in headless Chromium: takes a screenshot of the landing page, finds a symbol by the search,
and opens an article and a tutorial.

    check.py SITE SCREENSHOT

SITE is the folder that Docs/build.sh has made.
"""
import functools
import http.server
import pathlib
import sys
import threading

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

#: Seconds.
LIMIT = 60
PAGES = {
    "/documentation/rxnetworking/gettingstarted": "Getting started",
    "/tutorials/rxnetworking/buildinganapp": "Build your first app",
}


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    handler = functools.partial(Handler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def chromium():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1200"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def check(site, screenshot):
    address = serve(site)
    driver = chromium()

    def wait(condition, message):
        return WebDriverWait(driver, LIMIT).until(lambda _: condition(), message)

    def texts(selector):
        # In one step, since the page may replace its elements at any time.
        script = "return [...document.querySelectorAll(arguments[0])].map(element => element.innerText.trim())"
        return driver.execute_script(script, selector)

    def open_page(path, title):
        driver.get(address + path)
        wait(lambda: title in texts("h1"), f"{path} has no title {title}")

    try:
        open_page("/documentation/rxnetworking", "RxNetworking")
        links = driver.find_elements(By.CSS_SELECTOR, "main a[href*='/documentation/rxnetworking/']")
        assert len(links) >= 40, f"the landing page has {len(links)} links"
        wait(lambda: "Client" in texts(".navigator a"), "the sidebar shows no symbols")
        driver.save_screenshot(screenshot)

        search = driver.find_element(By.CSS_SELECTOR, ".navigator input")
        search.send_keys("RetryBudget")
        wait(lambda: "RetryBudget" in texts(".navigator a"), "the search finds no RetryBudget")

        for path, title in PAGES.items():
            open_page(path, title)
    finally:
        driver.quit()
    assert pathlib.Path(screenshot).stat().st_size > 20_000, "the screenshot is empty"
    print(f"The landing page, the search, an article and a tutorial are in order. The landing page: {screenshot}")


if __name__ == "__main__":
    check(*sys.argv[1:])
