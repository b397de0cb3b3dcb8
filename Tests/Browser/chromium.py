"""Headless Chromium, with Selenium's driver."""
import contextlib
import pathlib

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

#: Seconds.
LIMIT = 60


@contextlib.contextmanager
def chromium(width, height):
    """A browser with a window of this size, which ends with the block."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    size = f"--window-size={width},{height}"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", size):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    try:
        yield driver
    finally:
        driver.quit()


def waiting(driver):
    """The function that waits for a condition to hold."""
    return lambda condition, message: WebDriverWait(driver, LIMIT).until(lambda _: condition(), message)


def save_screenshot(driver, path):
    driver.save_screenshot(str(path))
    assert pathlib.Path(path).stat().st_size > 20_000, f"the screenshot {path} is empty"
