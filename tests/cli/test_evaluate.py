"""``lob evaluate``: from a file to a verdict, a figure and a page."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from lobandits.cli.app import app

QUICK = ("--policies", "popular,ts,lobbayes", "--states", "2", "--horizon", "10")
COLUMNS = ("--user", "customer", "--arm", "product", "--reward", "click")


@pytest.fixture
def clicks(tmp_path: Path) -> Path:
    """Return a file of customers of two tastes."""
    rng = np.random.default_rng(0)
    customers = np.repeat(np.arange(120), rng.integers(1, 40, 120))
    products = rng.integers(3, size=len(customers))
    chances = np.array([[0.8, 0.1, 0.2], [0.1, 0.2, 0.8]])[customers % 2, products]
    clicks = rng.random(len(customers)) < chances
    names = np.array(["shoe", "hat", "coat"])[products]
    path = tmp_path / "clicks.csv"
    logs = pl.DataFrame({"customer": customers, "product": names, "click": clicks.astype(int)})
    logs.write_csv(path)
    return path


def test_from_a_file_to_a_verdict(clicks: Path) -> None:
    figure, page = clicks.with_name("gains.png"), clicks.with_name("report.html")
    files = ("--plot", str(figure), "--html", str(page))
    done = CliRunner().invoke(app, ["evaluate", str(clicks), *COLUMNS, *QUICK, *files])
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "users: 120"
    assert any(line.startswith("Use lobbayes: it earns +") for line in lines)
    assert lines[-2:] == [f"figure saved to {figure}", f"report saved to {page}"]
    assert figure.stat().st_size > 1000
    assert "Use lobbayes" in page.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate"], "there is nothing to judge by; give files of logs, or --store"),
        (["evaluate", "a.csv", "--states", "many"], "--states must be auto or a number"),
        (["evaluate", "a.csv", "--html", "page.pdf"], "--html must end in .html"),
        (["evaluate", "a.csv", "--store", "sqlite:///x.db"], "leave logs out"),
    ],
)
def test_refusals(words: list[str], message: str) -> None:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert message in done.stderr
