"""A browser for the tests of pages: Chromium where it is installed, without a screen or network."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium, and end it."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()
