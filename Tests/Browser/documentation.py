"""Opens the documentation in headless Chromium: takes a screenshot of the landing page, finds a symbol by the search,
and opens an article and a tutorial.

    documentation.py SITE SCREENSHOT

SITE is the folder that Docs/build.sh has made.
"""
import functools
import http.server
import sys
import threading

from selenium.webdriver.common.by import By

from chromium import chromium, save_screenshot, waiting

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


def check(site, screenshot):
    address = serve(site)
    with chromium(1400, 1200) as driver:
        look(driver, address, screenshot)
    print(f"The landing page, the search, an article and a tutorial are in order. The landing page: {screenshot}")


def look(driver, address, screenshot):
    wait = waiting(driver)

    def texts(selector):
        # In one step, since the page may replace its elements at any time.
        script = "return [...document.querySelectorAll(arguments[0])].map(element => element.innerText.trim())"
        return driver.execute_script(script, selector)

    def open_page(path, title):
        driver.get(address + path)
        wait(lambda: title in texts("h1"), f"{path} has no title {title}")

    open_page("/documentation/rxnetworking", "RxNetworking")
    links = driver.find_elements(By.CSS_SELECTOR, "main a[href*='/documentation/rxnetworking/']")
    assert len(links) >= 40, f"the landing page has {len(links)} links"
    wait(lambda: "Client" in texts(".navigator a"), "the sidebar shows no symbols")
    save_screenshot(driver, screenshot)

    search = driver.find_element(By.CSS_SELECTOR, ".navigator input")
    search.send_keys("RetryBudget")
    wait(lambda: "RetryBudget" in texts(".navigator a"), "the search finds no RetryBudget")

    for path, title in PAGES.items():
        open_page(path, title)


if __name__ == "__main__":
    check(*sys.argv[1:])
