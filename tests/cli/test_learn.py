"""``lob learn`` and ``lob show``: from logs to a file, a table and a picture."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import lobandits as lob
from lobandits.cli.app import app
from lobandits.cli.saved_orders import read_policy
from lobandits.policies.lobbayes import LobBayes
from lobandits.policies.mixts import MixTS
from lobandits.policies.popular import Popular
from lobandits.priors import Prior

RATINGS = lob.make_ratings(n_users=120, n_arms=5, n_states=3, ratings_per_user=200, missing=0.05)
COLUMNS = ["--user", "userId", "--arm", "genre", "--reward", "rating"]


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    RATINGS.write("ratings.parquet")
    return tmp_path


def planted() -> set[str]:
    return {str(order) for order in RATINGS.orders}


def test_learn_saves_what_it_learned(folder: Path) -> None:
    code, out, err = run(
        "learn", "ratings.parquet", *COLUMNS, "--states", "3",
        "--out", "orders.json", "--plot", "orders.png",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "model saved to orders.json" in out
    assert "figure saved to orders.png" in out
    assert Path("orders.png").stat().st_size > 1000
    model = lob.OrderModel.load("orders.json")
    assert {str(order) for order in model.orders} == planted()
    assert lob.LatentOrders.load("orders.json") == model.orders
    words = {" ".join(line.split()) for line in out.splitlines()}
    assert {"users 120", "arms 5", "states 3"} <= words
    assert "rewards per user 200 (median), 200 (least)" in words
    sigma = f"estimated sigma {model.sigma:.4g}, from repeated rewards of a user and arm"
    assert sigma in words
    assert str(model.prior) in out
    assert "The number of states was given" in out


def test_learn_chooses_the_states_and_says_how(folder: Path) -> None:
    code, out, err = run("learn", "ratings.parquet", *COLUMNS, "--out", "model.json")
    assert (code, err) == (0, "")
    model = lob.OrderModel.load("model.json")
    assert model.curve is not None
    assert str(model.curve) in out
    assert model.curve.verdict in out
    assert model.orders.n_states == model.curve.chosen > 1
    _, shown, _ = run("show", "model.json")
    for text in (str(model.curve), str(model.prior), model.curve.verdict):
        assert text in shown


def test_learn_finds_nothing_in_noise(folder: Path) -> None:
    rng = np.random.default_rng(1)
    logs = {"user": np.repeat(np.arange(100), 12), "arm": np.tile(list("abcd"), 300)}
    pl.DataFrame(logs | {"reward": rng.standard_normal(1200)}).write_csv("noise.csv")
    code, out, _ = run("learn", "noise.csv")
    assert code == 0
    assert "No structure worth using: users differ by no more than noise" in out


SHOP = {"customer": ["ann", "ann", "bob", "bob", "cyd"], "product": list("xyxyx")}
THREE = ["--user", "customer", "--arm", "product", "--reward", "click"]


def test_learn_skips_what_is_empty_only_if_told(folder: Path) -> None:
    pl.DataFrame(SHOP | {"click": [1, 0, None, 1, 1]}).write_csv("shop.csv")
    code, _, err = run("learn", "shop.csv", *THREE)
    assert code == 2
    assert "is empty or no finite number in 1 row: row 3 (customer='bob'" in err
    assert "--skip-empty" in err
    code, out, err = run("learn", "shop.csv", *THREE, "--states", "1", "--skip-empty")
    assert (code, err) == (0, "")
    assert "rows without a reward 1, skipped" in " ".join(out.split())


def test_learn_from_the_recent_part(folder: Path) -> None:
    days = [f"2026-01-0{day}" for day in range(1, 6)]
    pl.DataFrame(SHOP | {"click": [1, 0, 0, 1, 1], "day": days}).write_csv("shop.csv")
    recent = ["--time", "day", "--since", "2026-01-03", "--states", "1"]
    code, out, _ = run("learn", "shop.csv", *THREE, *recent)
    assert code == 0
    assert "users 2" in " ".join(out.split())
    code, _, err = run("learn", "shop.csv", *THREE, "--since", "2026-01-03")
    assert code == 2
    assert "give the column of times" in err


def test_learn_weighs_old_rows_less(folder: Path) -> None:
    """Users liked x until March, and like y since."""
    rng = np.random.default_rng(0)
    n = 1000
    day, arm = rng.integers(120, size=n), rng.integers(2, size=n)
    pl.DataFrame(
        {
            "user": rng.integers(20, size=n),
            "arm": np.array(["x", "y"])[arm],
            "reward": rng.normal(size=n) + 3.0 * ((arm == 0) == (day < 90)),
            "day": day,
        }
    ).with_columns(day=pl.date(2026, 1, 1) + pl.duration(days=pl.col("day"))).write_csv("old.csv")
    best = {}
    for half_life in ("1000d", "3d"):
        fading = ["--time", "day", "--half-life", half_life, "--states", "1"]
        code, _, err = run("learn", "old.csv", *fading, "--out", "model.json")
        assert (code, err) == (0, "")
        model = lob.OrderModel.load("model.json")
        best[half_life] = model.orders.arms[int(np.argmax(model.state_means[0]))]
    assert best == {"1000d": "x", "3d": "y"}
    code, _, err = run("learn", "old.csv", "--half-life", "3d")
    assert code == 2
    assert "give the column of times" in err
    code, _, err = run("learn", "old.csv", "--time", "day", "--half-life", "soon")
    assert code == 2
    assert "span of time such as 12h" in err


def test_learn_warns_of_what_is_doubtful(folder: Path) -> None:
    pl.DataFrame(SHOP | {"click": [1, 0, 0, 1, 1]}).write_csv("shop.csv")
    code, out, _ = run("learn", "shop.csv", *THREE, "--states", "1")
    assert code == 0
    warnings = [line for line in out.splitlines() if line.startswith("warning: ")]
    assert warnings == [
        "warning: most users (3 of 3) have fewer than 5 rewards",
        "warning: 2 arms were tried by fewer than 10 users: y, x",
        "warning: no user has enough repeated rewards from one arm, so sigma rests on the model",
    ]


def test_learn_says_how_users_differ(folder: Path) -> None:
    code, out, _ = run("learn", "ratings.parquet", *COLUMNS, "--states", "3")
    assert code == 0
    words = " ".join(out.split())
    assert "personal scales +- " in words
    assert "personal shifts +- " in words
    assert "of users like another arm best than the most popular" in words
    assert "of pairs as their state does (chance: 50%)" in words


def test_thousands_of_prices_are_refused_in_one_line(folder: Path) -> None:
    prices = np.arange(3000 * 3) % 8500 / 100
    logs = {"user": np.arange(9000) % 3000, "price": prices, "reward": np.ones(9000)}
    pl.DataFrame(logs).write_parquet("prices.parquet")
    code, out, err = run("learn", "prices.parquet", "--arm", "price")
    assert (code, out) == (2, "")
    assert (
        "there are 8,500 arms, each counted in every context, and a prior is learned of at most 400"
        in err
    )
    assert err.count("\n") == 1


def test_learn_prints_partial_orders_of_a_prior(folder: Path) -> None:
    partial = ["--states", "1", "--relations", "confident", "--level", "0.1"]
    code, out, _ = run("learn", "ratings.parquet", *COLUMNS, *partial)
    assert code == 0
    assert "order, best first" in out


def test_learn_as_in_the_paper(folder: Path) -> None:
    kendall = ["--method", "kendall", "--states", "3", "--out", "orders.json"]
    code, out, err = run("learn", "ratings.parquet", *COLUMNS, *kendall)
    assert (code, err) == (0, "")
    model = lob.OrderModel.load("orders.json")
    assert model.prior is None
    assert {str(order) for order in model.orders} == planted()
    words = {" ".join(line.split()) for line in out.splitlines()}
    assert {"users 120", "arms 5", "states 3", "merged states 0"} <= words
    assert f"imputed means {model.imputed_share:.1%}" in words
    for name in ("lobts", "mts"):
        assert read_policy(Path("orders.json"), name, None).n_arms == 5
    assert read_policy(Path("orders.json"), None, None).name == "lobts"
    with pytest.raises(
        lob.LobInputError, match=r"lobbayes needs a prior, which orders\.json lacks"
    ):
        read_policy(Path("orders.json"), "lobbayes", None)


@pytest.mark.parametrize("name", ["lobbayes(trust=0.2)", "mixts", "popular", "lobts", "mts"])
def test_the_file_serves_every_policy(folder: Path, name: str) -> None:
    lob.learn_orders(RATINGS.table, "userId", "genre", "rating", 2).save("model.json")
    policy = read_policy(Path("model.json"), name, None)
    assert policy.n_arms == 5
    assert read_policy(Path("model.json"), None, None).name == "lobbayes"
    if isinstance(policy, LobBayes | MixTS | Popular):
        assert policy.prior == Prior.load("model.json")


def test_learn_equals_the_function(folder: Path) -> None:
    model = lob.learn_orders(
        RATINGS.table, "userId", "genre", "rating", 4, method="kendall", centroid="borda",
        relations="confident", level=0.2, min_user_rewards=10, min_arm_rewards=20, n_init=2, seed=3,
    )  # fmt: skip
    code, _, _ = run(
        "learn", "ratings.parquet", *COLUMNS, "--states", "4", "--method", "kendall",
        "--centroid", "borda",
        "--relations", "confident", "--level", "0.2", "--min-user-rewards", "10",
        "--min-arm-rewards", "20", "--starts", "2", "--seed", "3", "--out", "orders.json",
    )  # fmt: skip
    assert code == 0
    assert lob.LatentOrders.load("orders.json") == model.orders


def test_learn_takes_globs_and_several_files(folder: Path) -> None:
    kendall = [*COLUMNS, "--states", "3", "--method", "kendall"]
    single = run("learn", "ratings.parquet", *kendall)
    half = RATINGS.n_rows // 2
    for name, part in {"a": RATINGS.table[:half], "b": RATINGS.table[half:]}.items():
        pl.DataFrame(part).write_csv(f"{name}.csv")
    assert run("learn", "*.csv", *kendall) == single
    assert run("learn", "a.csv", "b.csv", *kendall) == single


def test_learn_shows_only_the_largest_of_many_states(folder: Path) -> None:
    lob.make_ratings(n_users=120, n_arms=10, n_states=60, ratings_per_user=30).write("many.parquet")
    kendall = ["--states", "40", "--method", "kendall"]
    code, out, _ = run("learn", "many.parquet", *COLUMNS, *kendall)
    assert code == 0
    assert sum("%" in line for line in out.splitlines()) == 20 + 1
    assert "smaller states" in out


def test_show_prints_every_order_with_sizes(folder: Path) -> None:
    run("learn", "ratings.parquet", *COLUMNS, "--states", "3", "--out", "orders.json")
    code, out, err = run("show", "orders.json", "--plot", "orders.svg")
    assert (code, err) == (0, "")
    assert Path("orders.svg").stat().st_size > 1000
    words = " ".join(out.replace("│", " ").split())
    for order in planted():
        assert order in words
    largest = lob.OrderModel.load("orders.json").sizes.max()
    assert f" {largest} {largest / 120:.1%} " in words
    assert "estimated sigma" in words


def test_show_prints_orders_that_nobody_learned(folder: Path) -> None:
    names = ["[bold]a", "b", "c"]
    lob.LatentOrders.from_relations(3, [[(0, 1)], [(1, 2), (2, 0)]], names).save("own.json")
    code, out, _ = run("show", "own.json", "--plot", "own.png")
    assert code == 0
    assert "[bold]a > b; c free" in out
    assert "b > c > [bold]a" in out
    assert "users" not in out
    assert Path("own.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["learn", "ratings.parquet"], "has no column 'user'; did you mean 'userId'?"),
        (["learn", "rating.parquet"], "did you mean 'ratings.parquet'?"),
        (["learn"], "there is nothing to learn from; give files of logs, or --store"),
        (["learn", "x.csv", "--store", "sqlite:///x.db"], "and there are logs, x.csv; give one"),
        (["learn", "--store", "sqlite:///x.db"], "there is no store at x.db"),
        (["learn", "--store", "sqlite:///x.db", "--time", "t"], "--time is 't', but a store has"),
        (
            ["learn", "ratings.parquet", *COLUMNS, "--states", "500"],
            "n_states is 500, but there are only 120 users",
        ),
        (
            ["learn", "ratings.parquet", *COLUMNS, "--states", "some"],
            "--states must be auto or a number of states, got 'some'",
        ),
        (
            ["learn", "ratings.parquet", *COLUMNS, "--method", "kendall"],
            "needs the number of states",
        ),
        (["learn", "ratings.parquet", *COLUMNS, "--centroid", "man"], "did you mean 'mean'?"),
        (["learn", "ratings.parquet", *COLUMNS, "--relations", "x"], "unknown relations 'x'"),
        (["learn", "ratings.parquet", *COLUMNS, "--out", "a.txt"], "--out must end in .json"),
        (["learn", "ratings.parquet", *COLUMNS, "--plot", "a.txt"], "--plot must end in .png"),
        (["show", "nowhere.json"], "cannot read nowhere.json"),
        (["show", "ratings.parquet"], "no valid JSON"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(
    folder: Path, arguments: list[str], words: str
) -> None:
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert words in err
    assert err.count("\n") == 1
