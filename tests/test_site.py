"""The documentation as a site: on a desk and on a phone no page is cut off or wider than it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.browser import chromium, needs_chromium

ROOT = Path(__file__).parent.parent
pytestmark = [
    needs_chromium,
    pytest.mark.skipif(find_spec("mkdocs") is None, reason="needs mkdocs: make docs"),
]
FAULTS = """() => {
  const found = [], view = document.documentElement;
  if (view.scrollWidth > view.clientWidth) found.push(`the page is ${view.scrollWidth} wide`);
  for (const code of document.querySelectorAll('.md-content pre > code'))
    if (code.scrollWidth > code.clientWidth + 1) found.push(`cut off: ${code.innerText}`);
  for (const box of document.querySelectorAll('.md-typeset__scrollwrap')) {
    if (view.clientWidth > 1000 && box.scrollWidth > box.clientWidth + 1)
      found.push(`a table runs out of the column: ${box.innerText}`);
    if (box.getBoundingClientRect().right > view.clientWidth + 1)
      found.push(`a table cannot be scrolled to: ${box.innerText}`);
  }
  for (const picture of document.images)
    if (!picture.naturalWidth) found.push(`no picture: ${picture.src}`);
  return found.map((fault) => fault.slice(0, 200));
}"""
"""On a phone, tables of many numbers may be moved sideways within the page."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(out)]
    subprocess.run(build, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=True)
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_fits(browser: Browser, site: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    faults = {}
    for path in sorted(site.glob("*.html")):
        page.goto(path.as_uri(), wait_until="load")
        page.wait_for_function(
            "document.querySelector('.md-typeset__scrollwrap') || "
            "!document.querySelector('.md-typeset table')"
        )
        if found := page.evaluate(FAULTS):
            faults[path.name] = found
    page.close()
    assert not faults
