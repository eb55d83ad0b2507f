import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lobandits.cli.app import app
from lobandits.cli.bound import parse_means
from lobandits.orders import LatentOrders
from lobandits.theory import regret_lower_bound

ARMS = ["drama", "comedy", "[bold]horror"]
ORDERS = LatentOrders.from_rankings([[0, 1, 2], [1, 2, 0], [2, 0, 1]], arms=ARMS)
MEANS = [4.0, 3.5, 2.0]


@pytest.fixture
def orders(tmp_path: Path) -> str:
    path = tmp_path / "orders.json"
    ORDERS.save(path)
    return str(path)


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["bound", *arguments], env={"COLUMNS": "120"})
    return result.exit_code, result.stdout, result.stderr


def test_commas_in_names_divide_nothing() -> None:
    arms = ("Crime", "Crime, drama", "War")
    assert parse_means("Crime, drama=4,War=2, Crime = 3", arms) == [3.0, 4.0, 2.0]


def test_prints_the_bounds_side_by_side(orders: str) -> None:
    code, out, err = run(orders, "--means", "4.0,3.5,2.0", "--sigma", "2.0")
    assert (code, err) == (0, "")
    for kind in ("lob", "mab"):
        value = regret_lower_bound(MEANS, ORDERS, 2.0, kind).constant
        row = next(line for line in out.splitlines() if f"│ {kind.upper()} " in line)
        assert f"{value:.4g}" in row
    assert "│ LB " not in out
    assert "[bold]horror" in out
    assert "Closest confusing instance: state" in out
    assert "rounds" in out


def test_means_by_name_in_any_order(orders: str) -> None:
    plain = run(orders, "--means", "4.0, 3.5, 2.0")
    named = run(orders, "--means", "comedy=3.5,[bold]horror=2,drama=4")
    assert plain == named
    assert plain[0] == 0


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_state_means_add_the_latent_bandits_bound(orders: str, tmp_path: Path, suffix: str) -> None:
    table = [MEANS, [4.0, 5.0, 4.5], [3.0, 2.0, 5.0]]
    path = tmp_path / f"means.{suffix}"
    text = "\n".join(",".join(map(str, row)) for row in table)
    path.write_text(json.dumps(table) if suffix == "json" else text + "\n")
    code, out, _ = run(orders, "--means", "4,3.5,2", "--state-means", str(path))
    assert code == 0
    value = regret_lower_bound(MEANS, ORDERS, 1.0, "lb", table).constant
    assert value > 0
    row = next(line for line in out.splitlines() if "each state's means" in line)
    assert f"{value:.4g}" in row


def test_means_that_are_no_states_leave_the_other_bounds(orders: str, tmp_path: Path) -> None:
    path = tmp_path / "means.json"
    path.write_text(json.dumps([[4.0, 3.0, 2.0]]))
    code, out, _ = run(orders, "--means", "4,3.5,2", "--state-means", str(path))
    assert code == 0
    assert "No LB bound: means is no row of state_means" in out


def test_a_bound_of_zero_says_why(tmp_path: Path) -> None:
    path = tmp_path / "orders.json"
    LatentOrders.from_rankings([[0, 1]]).save(path)
    code, out, _ = run(str(path), "--means", "2,1")
    assert code == 0
    assert "LOB is 0: no confusing instance: arm '0' tops every state." in out


def test_horizon_adds_regret_and_guarantees(orders: str) -> None:
    code, out, _ = run(orders, "--means", "4,3.5,2", "--horizon", "500")
    assert code == 0
    assert "c log 500" in out
    assert f"{regret_lower_bound(MEANS, ORDERS, 1.0).regret(500):.4g}" in out
    assert "Guaranteed at T = 500, with 3 arms on top of some state: regret of lobUCB" in out


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_plot_writes_a_file(orders: str, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bound{suffix}"
    code, out, _ = run(orders, "--means", "4,3.5,2", "--plot", str(path))
    assert code == 0
    assert f"Wrote {path}" in out
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--means", "4,3.5"], "means has 2 values, but the orders have 3 arms"),
        (["--means", "4,high,2"], "'high', which is no number"),
        (["--means", "4,4,2"], "tie for the best mean"),
        (["--means", "4,2,3.5"], "agree with no state's order"),
        (["--means", "drama=4,comedy=3"], "leaves out: [bold]horror"),
        (["--means", "drama=4,comedi=3,[bold]horror=1"], "did you mean 'comedy'"),
        (["--means", "drama=4,drama=3,[bold]horror=1"], "gives arm 'drama' twice"),
        (["--means", "drama=4,3,[bold]horror=1"], "write name=value"),
        (["--means", "4,3.5,2", "--sigma", "0"], "sigma must be positive"),
        (["--means", "4,3.5,2", "--horizon", "0"], "horizon must be"),
        (["--means", "4,3.5,2", "--state-means", "nowhere.csv"], "cannot read nowhere.csv"),
        (["--means", "4,3.5,2", "--plot", "no/such/a.png"], "the folder 'no/such' does not exist"),
        (["--means", "4,3.5,2", "--plot", "a.xyz"], "--plot must end in .png or .pdf or .svg"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(
    orders: str, arguments: list[str], words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(orders, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert words in err
    assert err.count("\n") == 1


def test_unreadable_files_are_named(orders: str, tmp_path: Path) -> None:
    code, _, err = run(str(tmp_path / "none.json"), "--means", "1,2")
    assert code == 2
    assert "none.json" in err
    bad = tmp_path / "bad.csv"
    bad.write_text("drama,comedy\n1,2\n")
    code, _, err = run(orders, "--means", "4,3.5,2", "--state-means", str(bad))
    assert code == 2
    assert "bad.csv is no table of numbers" in err


def test_help_teaches() -> None:
    code, out, _ = run("--help")
    assert code == 0
    for words in ("c log T", "--means", "--sigma", "--state-means", "--horizon", "--plot"):
        assert words in out
