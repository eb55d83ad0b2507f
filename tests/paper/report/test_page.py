"""The report in a real browser: every figure is there, nothing is missing, nothing is fetched."""

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser
from tests.browser import chromium, needs_chromium

from lobandits.paper import Reproduction, reproduce

NAMES = ["figure-1", "figure-2a", "figure-4", "rarity", "sample-size"]
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    out = tmp_path_factory.mktemp("report")
    return reproduce(NAMES, size="tiny", out=out, progress=False)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.mark.parametrize(
    ("width", "scheme", "kind"),
    [(1100, "light", "wide"), (1100, "dark", "wide"), (390, "light", "narrow")],
)
def test_all_figures_are_seen_and_nothing_is_fetched(
    browser: Browser, found: Reproduction, width: int, scheme: Literal["light", "dark"], kind: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    address = (found.folder / "index.html").as_uri()
    page.goto(address)
    for name in NAMES:
        picture = page.locator(f"#{name} figure .{kind} svg")
        assert picture.count() == 1
        box = picture.bounding_box()
        assert box is not None
        assert box["width"] > 200
        assert box["height"] > 100
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("getComputedStyle(document.body).colorScheme") != ""
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))
    assert trouble == []
    assert [url for url in fetched if not url.startswith("data:")] == [address]
    page.close()


def test_verdicts_come_first_and_links_lead_somewhere(
    browser: Browser, found: Reproduction
) -> None:
    page = browser.new_page()
    page.goto((found.folder / "index.html").as_uri())
    assert page.locator("section").first.get_attribute("id") == "verdicts"
    claims = {finding.claim.id for finding in found.findings}
    assert page.locator("table.verdicts tbody tr").count() == len(claims)
    assert page.locator("table.verdicts .verdict").count() == len(found.findings)
    links = page.evaluate("[...document.links].map(link => link.getAttribute('href'))")
    assert len(links) > 10
    for link in links:
        if link.startswith("#"):
            assert page.locator(link).count() == 1
        else:
            assert (found.folder / link).is_file()
    page.close()


def test_the_page_prints(browser: Browser, found: Reproduction) -> None:
    page = browser.new_page()
    page.goto((found.folder / "index.html").as_uri())
    assert page.pdf().startswith(b"%PDF")
    page.close()
