# SPDX-License-Identifier: Apache-2.0
"""A browser without a screen, for the page of ykd."""
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from daemon_support import until


class Browser:
    """Chromium at an address."""

    def __init__(self, web):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.address = f"http://127.0.0.1:{web.port}/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def shows(self, view, *texts, fresh=False):
        """Waits until the view is there, and has the texts."""
        self.driver.get(self.address + "#" + view)
        if fresh:
            self.driver.refresh()
        for text in texts:
            until(f"{view} shows {text}", lambda: text in self.text())

    def text(self, place="body"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", place)

    def resize(self, width):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]


__all__ = ["Browser", "Keys"]
