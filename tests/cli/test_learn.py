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
    model = lob.Model.load("orders.json")
    assert {str(order) for order in model.orders} == planted()
    assert lob.LatentOrders.load("orders.json") == model.orders
    words = {" ".join(line.split()) for line in out.splitlines()}
    assert {"users 120", "arms 5", "states 3"} <= words
    assert "rewards per user 200 (median), 200 (least)" in words
    sigma = f"rewards gaussian, sigma {model.sigma:.4g}, from repeated rewards of a user and arm"
    assert sigma in " ".join(out.split())
    assert str(model.prior) in out
    assert "The number of states was given" in out


def test_learn_chooses_the_states_and_says_how(folder: Path) -> None:
    code, out, err = run("learn", "ratings.parquet", *COLUMNS, "--out", "model.json")
    assert (code, err) == (0, "")
    model = lob.Model.load("model.json")
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
        model = lob.Model.load("model.json")
        best[half_life] = model.arms[int(np.argmax(model.prior.means[0]))]
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
    ]


def test_learn_says_how_users_differ(folder: Path) -> None:
    code, out, _ = run("learn", "ratings.parquet", *COLUMNS, "--states", "3")
    assert code == 0
    words = " ".join(out.split())
    assert "personal scales +- " in words
    assert "of users like another arm best than the most popular" in words
    assert "rewards of an arm, until a user's own outweigh what past users tell of it" in words
    assert "users differ by a level of their own, +- " in words


def test_learn_says_what_rates_there_are(folder: Path) -> None:
    rng = np.random.default_rng(2)
    logs = {"user": np.repeat(np.arange(100), 12), "arm": np.tile(list("abcd"), 300)}
    pl.DataFrame(logs | {"reward": rng.random(1200) < 0.25}).write_parquet("clicks.parquet")
    pl.DataFrame(logs | {"reward": rng.poisson(1.0, 1200)}).write_csv("counts.csv")
    one = ["--states", "1"]
    _, clicks, _ = run("learn", "clicks.parquet", *one)
    assert "bernoulli, arms' rates from 2" in clicks
    assert " in log odds on all arms" in clicks
    _, numbers, _ = run("learn", "counts.csv", *one)
    assert "gaussian, sigma" in numbers
    assert "look like counts; if they are, learn with --likelihood poisson" in numbers
    code, counts, _ = run("learn", "counts.csv", *one, "--likelihood", "poisson")
    assert code == 0
    assert "poisson, arms' rates from " in counts
    assert "look like counts" not in counts
    code, _, err = run("learn", "counts.csv", "--likelihood", "bernoulli")
    assert code == 2
    assert "bernoulli rewards are 0 or 1" in err


def test_hundreds_of_prices_are_doubted(folder: Path) -> None:
    rng = np.random.default_rng(3)
    logs = {"user": np.arange(3000) % 300, "price": np.arange(3000) % 250 / 100}
    pl.DataFrame(logs | {"reward": rng.normal(size=3000)}).write_parquet("prices.parquet")
    code, out, _ = run("learn", "prices.parquet", "--arm", "price", "--states", "1")
    assert code == 0
    assert "all 250 arms are numbers; is 'price' the column of arms, or a price or a time?" in out


@pytest.mark.parametrize("name", ["lobbayes(trust=0.2)", "mixts", "popular", "lobts", "mts"])
def test_the_file_serves_every_policy(folder: Path, name: str) -> None:
    lob.learn(RATINGS.table, "userId", "genre", "rating", 2).save("model.json")
    policy = read_policy(Path("model.json"), None, name, None)
    assert policy.n_arms == 5
    assert read_policy(Path("model.json"), None, None, None).name == "lobbayes"
    if isinstance(policy, LobBayes | MixTS | Popular):
        assert policy.prior == lob.Prior.load("model.json")


def test_models_and_orders_are_not_mixed_up(folder: Path) -> None:
    model, orders = Path("model.json"), Path("orders.json")
    clicks = pl.DataFrame({"user": [1, 1, 2, 2], "arm": list("abab"), "reward": [1, 0, 1, 1]})
    lob.learn(clicks, n_states=1).save(model)
    RATINGS.orders.save(orders)
    assert read_policy(None, orders, None, 2.0) == lob.LobTS(RATINGS.orders, 2.0)
    with pytest.raises(lob.LobInputError, match=r"--orders is model\.json, which is a learned mod"):
        read_policy(None, model, None, None)
    with pytest.raises(lob.LobInputError, match=r"--model is orders\.json, .* give --orders"):
        read_policy(orders, None, None, None)
    with pytest.raises(lob.LobInputError, match="got both of them"):
        read_policy(model, orders, None, None)
    with pytest.raises(lob.LobInputError, match="got none of them"):
        read_policy(None, None, None, None)
    with pytest.raises(lob.LobInputError, match="lobbayes needs a prior, which orders"):
        read_policy(None, orders, "lobbayes", None)
    with pytest.raises(lob.LobInputError, match="--sigma is 2, but the noise of bernoulli rewards"):
        read_policy(model, None, None, 2.0)


def test_add_arm_keeps_the_rest(folder: Path) -> None:
    lob.learn(RATINGS.table, "userId", "genre", "rating", 2).save("model.json")
    grow = ["model", "add-arm", "Opera", "--like", "Action", "--out", "grown.json"]
    code, out, err = run(*grow, "--model", "model.json")
    assert (code, out, err) == (0, "model with Opera saved to grown.json\n", "")
    model, grown = lob.Model.load("model.json"), lob.Model.load("grown.json")
    assert grown.prior == model.prior.with_arm("Opera", like="Action")
    assert grown.options == model.options


def test_learn_equals_the_function(folder: Path) -> None:
    model = lob.learn(
        RATINGS.table, "userId", "genre", "rating", 4, likelihood="gaussian", min_user_rewards=10,
        min_arm_rewards=20, seed=3,
    )  # fmt: skip
    code, _, _ = run(
        "learn", "ratings.parquet", *COLUMNS, "--states", "4", "--likelihood", "gaussian",
        "--min-user-rewards", "10", "--min-arm-rewards", "20", "--seed", "3", "--out", "model.json",
    )  # fmt: skip
    assert code == 0
    again = lob.Model.load("model.json")
    assert (again.prior, again.options) == (model.prior, model.options)


def test_learn_takes_globs_and_several_files(folder: Path) -> None:
    columns = [*COLUMNS, "--states", "3"]
    single = run("learn", "ratings.parquet", *columns)
    half = RATINGS.n_rows // 2
    for name, part in {"a": RATINGS.table[:half], "b": RATINGS.table[half:]}.items():
        pl.DataFrame(part).write_csv(f"{name}.csv")
    assert run("learn", "*.csv", *columns) == single
    assert run("learn", "a.csv", "b.csv", *columns) == single


def test_show_prints_what_is_in_the_file(folder: Path) -> None:
    run("learn", "ratings.parquet", *COLUMNS, "--states", "3", "--out", "model.json")
    code, out, err = run("show", "model.json", "--plot", "orders.svg")
    assert (code, err) == (0, "")
    assert Path("orders.svg").stat().st_size > 1000
    assert str(lob.Model.load("model.json").prior) in out
    assert "users 120" in " ".join(out.split())


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
        (["learn", "ratings.parquet", *COLUMNS, "--likelihood", "x"], "unknown likelihood 'x'"),
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
