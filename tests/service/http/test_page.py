"""The page in a real browser, on real traffic."""

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser import chromium, needs_chromium
from tests.service.serving import Caller, ServerProcess

import lobandits as lob
from lobandits.policies import Policy
from lobandits.service import Control, DecisionService
from lobandits.service.http import Settings

HOSTILE_ARM = "<img src=x onerror=alert(1)>"
HOSTILE_USER = "</p><script>alert('user')</script>\"'&/é"
ARMS = ("tea", "coffee", "water", HOSTILE_ARM)
KEYS = Settings(api_key="key-to-decide", admin_key="key-for-all")
SHOTS = os.environ.get("LOB_SCREENSHOTS")

pytestmark = needs_chromium
expect.set_options(timeout=60_000)  # a server's first answer may have to compile


def policy() -> Policy:
    rankings = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]]
    return lob.LobTS(lob.LatentOrders.from_rankings(rankings, arms=ARMS), sigma=1.0)


def ucb() -> Policy:
    return lob.UCB(3, sigma=1.0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with traffic: 200 decisions, three of four rewarded."""
    server = ServerProcess(f"sqlite:///{tmp_path_factory.mktemp('page')}/lob.db", policy)
    rng = random.Random(0)
    with Caller(server.port) as caller:
        users = [HOSTILE_USER, *(f"user {i}" for i in range(39))]
        for turn in range(5):
            requests = [{"user": user} for user in users]
            _, made = caller.ask("POST", "/v1/decisions/batch", {"requests": requests})
            rewards = [
                {"decision": d["id"], "reward": ARMS.index(d["arm"]) + rng.randrange(8) / 8}
                for i, d in enumerate(made["decisions"])
                if (i + turn) % 4
            ]
            caller.ask("POST", "/v1/rewards/batch", {"rewards": rewards})
    yield server
    server.stop()


class Visit:
    """A page, with everything that went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))


@contextmanager
def visit(browser: Browser, address: str, **options: Any) -> Iterator[Visit]:
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
    visit = Visit(context.new_page())
    visit.page.goto(address)
    yield visit
    context.close()


def shoot(page: Page, name: str) -> None:
    """Keep a screenshot where the environment asks for it, to be looked at."""
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def bars(page: Page, kind: str) -> list[float]:
    found: list[float] = page.eval_on_selector_all(
        f"#traffic .bar-{kind}", "bars => bars.map(bar => Number(bar.dataset.value))"
    )
    return [value for value in found if value]


def shown(page: Page, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


def activity(server: ServerProcess) -> Any:
    with Caller(server.port) as caller:
        return caller.ask("GET", "/v1/activity?minutes=60")[1]


def minutes_since_the_first(told: Any) -> int:
    """Return how many minutes of the window there were."""
    first = next(i for i, n in enumerate(told["decisions"]) if n)
    return len(told["decisions"]) - first


def test_the_page_shows_what_the_service_says(browser: Browser, busy: ServerProcess) -> None:
    with visit(browser, busy.address) as here:
        page = here.page
        expect(page.locator("#board")).to_be_visible()
        told = activity(busy)
        decisions, rewards = sum(told["decisions"]), sum(told["rewards"])
        assert (decisions, rewards) == (200, 150)
        tiles = dict(zip(shown(page, "#totals dt"), shown(page, "#totals dd"), strict=True))
        assert (tiles["decisions"], tiles["rewards"], tiles["rewarded"]) == ("200", "150", "75%")
        assert bars(page, "decisions") == [n for n in told["decisions"] if n]
        assert bars(page, "rewards") == [n for n in told["rewards"] if n]
        shares = {arm: sum(series["decisions"]) / 200 for arm, series in told["arms"].items()}
        rows = [row.split("\t") for row in shown(page, "#arms tbody tr")]
        assert [row[0] for row in rows] == sorted(shares, key=shares.__getitem__, reverse=True)
        for name, share, *_ in rows:
            assert abs(float(share.rstrip("%")) / 100 - shares[name]) < 0.006
        assert sum(int(row[-1]) for row in rows) == 150
        counts = page.eval_on_selector_all(
            "#certainty .bar", "bars => bars.map(bar => Number(bar.dataset.value))"
        )
        assert sum(counts) == len(told["certainty"]["chances"]) == 40
        assert page.locator("#orders .cell").count() == 12
        health = dict(zip(shown(page, "#health dt"), shown(page, "#health dd"), strict=True))
        assert (health["store"], health["store errors"], health["failed (5xx)"]) == (
            "ready",
            "0",
            "0",
        )
        assert health["half answered within"].endswith("ms")
        assert health["oldest without reward"].endswith(("s", "min"))
        assert page.locator("#learning .line.model").count() == 1
        assert shown(page, "#models tbody tr")[0].split("\t")[1:3] == ["200", "150"]
        expect(page.locator("#fit")).to_contain_text("of 40 users are explained by no state")
        expect(page.locator("#comparison-card")).to_be_hidden()
        assert tiles["decisions per minute"] == str(200 // minutes_since_the_first(told))
        shoot(page, "light")
        assert here.problems == []
        assert here.requests
        assert all(url.startswith(busy.address) or url.startswith("data:") for url in here.requests)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server on a store with a comparison of 300 users, a model put, and an apprentice."""
    url = f"sqlite:///{tmp_path_factory.mktemp('compared')}/lob.db"
    control = Control(lob.UCB(4, sigma=1.0, arms=ARMS), 0.5, rewards=1)
    rng = random.Random(0)
    with DecisionService(policy(), url, control=control, seed=0) as service:
        made = service.decide_many([f"user {i}" for i in range(300)])
        for i in range(0, 300, 60):  # users are counted at several times
            service.record_many([(d.id, float(rng.random() < 0.5)) for d in made[i : i + 60]])
        service.record_many([(service.decide("eve", shown="tea").id, 1.0)])
    server = ServerProcess(url, policy)
    yield server
    server.stop()


@pytest.mark.parametrize("width", [1280, 390])
def test_it_shows_the_comparison(browser: Browser, compared: ServerProcess, width: int) -> None:
    with visit(browser, compared.address, viewport={"width": width, "height": 900}) as here:
        page = here.page
        expect(page.locator("#comparison .line")).to_be_visible()
        assert page.locator("#comparison .band").get_attribute("points")
        with Caller(compared.port) as caller:
            told = caller.ask("GET", "/v1/comparison")[1]
        verdict = page.locator("#verdict")
        expect(verdict).to_contain_text(f"Verdict: {told['difference']['verdict']}.")
        expect(verdict).to_contain_text("Control: ucb, 50% of users.")
        rows = [row.split("\t") for row in shown(page, "#groups tbody tr")]
        counted = [told["groups"][name]["counted"] for name in ("model", "control")]
        assert ["users counted, with 1 rewards", *map(str, counted)] in rows
        assert {"model", "control", "caller"} <= set(page.inner_text("#learning-keys").split())
        expect(page.locator("#advice-text")).to_contain_text("Of 1 decisions of the caller")
        cut = "boxes => boxes.filter(x => x.scrollWidth > x.clientWidth).map(x => x.ariaLabel)"
        assert page.eval_on_selector_all(".scroll", cut) == []
        shoot(page, f"comparison-{width}")
        assert here.problems == []


def test_names_with_markup_are_text(browser: Browser, busy: ServerProcess) -> None:
    with visit(browser, busy.address) as here:
        page = here.page
        page.fill("#user", HOSTILE_USER)
        page.press("#user", "Enter")
        expect(page.locator("#user-result h3").first).to_have_text(f"Arms of {HOSTILE_USER}")
        with Caller(busy.port) as caller:
            told = caller.ask("GET", f"/v1/users/{quote(HOSTILE_USER, safe='')}")[1]
        best = max(told["why"], key=lambda row: row["probability"])
        assert shown(page, "#user-result tbody tr")[0].startswith(best["arm"])
        assert shown(page, "#user-result table >> nth=1 >> tbody tr") != []
        assert page.get_by_text(HOSTILE_ARM, exact=True).count() >= 2
        assert page.locator("img").count() == 0
        assert page.locator("body script").count() == 0
        page.fill("#user", "nobody <b>")
        page.press("#user", "Enter")
        expect(page.locator("#user-result")).to_have_text("No user is called “nobody <b>”.")
        assert [text for text in here.problems if "404" not in text] == []


def test_the_browser_is_told_to_run_nothing_else(browser: Browser, busy: ServerProcess) -> None:
    with visit(browser, busy.address) as here:
        with pytest.raises(Exception, match="TrustedHTML"):
            here.page.evaluate("document.body.innerHTML = '<b>x</b>'")
        added = """new Promise(done => {
            document.addEventListener("securitypolicyviolation", e => done(e.effectiveDirective));
            document.body.append(Object.assign(new Image(), { src: "http://127.0.0.1:9/x.png" }));
        })"""
        assert here.page.evaluate(added) == "img-src"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dark", {"color_scheme": "dark"}),
        ("desk", {"viewport": {"width": 1280, "height": 900}}),
        ("phone", {"viewport": {"width": 390, "height": 740}}),
        ("small phone", {"viewport": {"width": 360, "height": 740}}),
    ],
)
def test_it_fits_its_screen(
    browser: Browser, busy: ServerProcess, name: str, options: dict[str, Any]
) -> None:
    with visit(browser, busy.address, **options) as here:
        page = here.page
        expect(page.locator("#traffic svg")).to_be_visible()
        page.fill("#user", "user 1")
        page.press("#user", "Enter")
        expect(page.locator("#user-result table").first).to_be_visible()
        wide, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide <= inner
        cut = "boxes => boxes.filter(x => x.scrollWidth > x.clientWidth).map(x => x.ariaLabel)"
        assert page.eval_on_selector_all(".scroll", cut) == []
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(18, 22, 28)") == (name == "dark")
        shoot(page, name)
        assert page.pdf().startswith(b"%PDF")
        assert here.problems == []


def test_keys_and_arrows_do_what_the_mouse_does(browser: Browser, busy: ServerProcess) -> None:
    with visit(browser, busy.address) as here:
        page = here.page
        expect(page.locator("#traffic svg")).to_be_visible()
        page.focus("#traffic")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#traffic-readout")).to_contain_text("decisions")
        page.focus("[data-sort=arm]")
        page.keyboard.press("Enter")
        assert [row.split("\t")[0] for row in shown(page, "#arms tbody tr")] == sorted(ARMS)
        nameless = "e => e.filter(x => !x.labels?.length && !x.innerText.trim()).map(x => x.id)"
        assert page.eval_on_selector_all("input, select, button", nameless) == []


def test_it_asks_for_the_key_and_keeps_it_in_the_tab(browser: Browser, tmp_path: Path) -> None:
    server = ServerProcess(f"sqlite:///{tmp_path}/lob.db", policy, KEYS)
    with visit(browser, server.address) as here:
        page = here.page
        expect(page.locator("#key")).to_be_focused()
        shoot(page, "key")
        for key in ("wrong", "key-to-decide"):
            page.fill("#key", key)
            page.press("#key", "Enter")
            expect(page.locator("#key-problem")).to_contain_text("key")
            expect(page.locator("#key-problem")).to_have_class("problem")
            expect(page.locator("#board")).to_be_hidden()
        page.fill("#key", "key-for-all")
        page.press("#key", "Enter")
        expect(page.locator("#board")).to_be_visible()
        expect(page.locator("#certainty-text")).to_have_text("No decision yet.")
        readout = page.locator("#traffic-readout")
        expect(readout).to_have_text("Nothing happened in this window.")
        assert page.evaluate("localStorage.length") == 0
        assert page.context.cookies() == []
        shoot(page, "empty")
        page.click("#forget")
        expect(page.locator("#key-form")).to_be_visible()
        assert page.evaluate("sessionStorage.length") == 0
    server.stop()


def test_it_says_that_the_service_is_away_and_comes_back(browser: Browser, tmp_path: Path) -> None:
    server = ServerProcess(f"sqlite:///{tmp_path}/lob.db", ucb)
    with visit(browser, server.address) as here:
        page = here.page
        expect(page.locator("#board")).to_be_visible()
        expect(page.locator("#orders-text")).to_have_text("This policy has no orders.")
        server.stop()
        page.select_option("#minutes", "15")
        expect(page.locator("#status")).to_contain_text("does not answer")
        again = ServerProcess(f"sqlite:///{tmp_path}/lob.db", ucb, port=server.port)
        expect(page.locator("#status")).to_be_hidden()
        expect(page.locator("#board")).to_be_visible()
    again.stop()


def fading() -> Policy:
    orders = lob.LatentOrders.from_rankings([[0, 1], [1, 0]], arms=("tea", "milk"))
    return lob.LobTS(orders, sigma=1.0, half_life=86400.0)


@pytest.mark.parametrize("width", [1280, 390])
def test_it_shows_how_much_is_recent(browser: Browser, tmp_path: Path, width: int) -> None:
    """Ada liked tea 30 days ago, and likes it no more; Bob is as he was."""
    url, old = f"sqlite:///{tmp_path}/lob.db", time.time() - 30 * 86400
    with DecisionService(fading(), url, seed=0) as service:
        for user, now in (("ada", 0.0), ("bob", 3.0)):
            row = {"user": user, "arm": "tea"}
            past = [row | {"id": f"{user}{i}", "reward": 3.0, "time": old} for i in range(40)]
            recent = [row | {"id": f"{user} now {i}", "reward": now} for i in range(10)]
            service.add_history(past + recent)
            service.decide(user)
    server = ServerProcess(url, fading)
    with Caller(server.port) as caller:
        assert caller.ask("GET", "/v1/users/ada")[0] == 200  # compiles, for the page
    with visit(browser, server.address, viewport={"width": width, "height": 900}) as here:
        expect(here.page.locator("#recent")).to_contain_text(
            "20% of what is known of them is recent; recent rewards alone decide for 50% of them"
        )
        for user, words in (
            ("ada", "10 of 50 plays are recent; these alone decide: the user has changed."),
            ("bob", "10 of 50 plays are recent; all decide alike."),
        ):
            here.page.fill("#user", user)
            here.page.click("#user-form button")
            expect(here.page.locator("#user-result")).to_contain_text(words)
        shoot(here.page, f"recent {width}")
        assert here.problems == []
    server.stop()


def in_contexts() -> Policy:
    day = lob.LatentOrders.from_rankings([[0, 1], [1, 0]], ("tea", "milk"))
    night = lob.LatentOrders.from_rankings([[1, 0], [0, 1]], ("tea", "milk"))
    return lob.LobTS(lob.LatentOrders.per_context({"day": day, "night": night}), sigma=1.0)


def test_arms_and_reasons_of_one_context(browser: Browser, tmp_path: Path) -> None:
    server = ServerProcess(f"sqlite:///{tmp_path}/lob.db", in_contexts)
    with Caller(server.port) as caller:
        for context, n in (("day", 6), ("night", 2)):
            for _ in range(n):
                caller.ask("POST", "/v1/decisions", {"user": "ada", "context": context})
        status, told = caller.ask("GET", "/v1/users/ada?context=night")  # compiles, for the page
        assert (status, len(told["why"])) == (200, 2)
    with visit(browser, server.address) as here:
        page = here.page
        expect(page.locator("#contexts")).to_be_visible()
        assert shown(page, "#context option") == ["all", "day", "night"]
        assert len(shown(page, "#arms tbody tr")) == 4
        page.select_option("#context", "night")
        rows = [row.split("\t") for row in shown(page, "#arms tbody tr")]
        assert sorted(row[0] for row in rows) == ["milk", "tea"]
        assert sum(float(row[1].rstrip("%")) for row in rows) == 100
        assert page.locator("#orders .cell").count() == 4
        page.fill("#user", "ada")
        page.click("#user-form button")
        table = page.locator("#user-result table").first
        expect(table).to_contain_text("night: tea")
        assert "day: tea" not in table.inner_text()
        assert here.problems == []
    server.stop()


def many() -> Policy:
    return lob.UCB(3000, sigma=1.0)


def test_thousands_of_arms(browser: Browser, tmp_path: Path) -> None:
    server = ServerProcess(f"sqlite:///{tmp_path}/lob.db", many)
    with Caller(server.port) as caller:
        _, made = caller.ask("POST", "/v1/decisions/batch", {"requests": [{"user": "a"}] * 20})
        for decision in made["decisions"]:
            caller.ask("POST", "/v1/rewards", {"decision": decision["id"], "reward": 1})
    with visit(browser, server.address) as here:
        rows = here.page.locator("#arms tbody tr")
        expect(rows).to_have_count(201)
        expect(rows.last).to_contain_text("and 2,800 more")
        assert not here.problems
    server.stop()
