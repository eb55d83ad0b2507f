import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from tests.simulation.helpers import fixed, shared_orders

from lobandits.errors import LobInputError
from lobandits.simulation import FixedProblems, Result, Synthetic, simulate
from lobandits.simulation.result import mean_lower_bound
from lobandits.theory import regret_lower_bound

ENV = Synthetic(n_arms=5, n_states=4)


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(ENV, ["ucb", "ts", "mts"], 60, 40, seed=2, progress=False)


@pytest.fixture(scope="module")
def mean() -> Result:
    return simulate(ENV, ["ucb", "ts", "mts"], 60, 40, seed=2, progress=False, keep="mean")


def test_curves_are_means_over_users_with_standard_errors(result: Result) -> None:
    regret = result.regret["ts"]
    for curve, values in (
        (result.instantaneous("ts"), regret),
        (result.cumulative("ts"), regret.cumsum(axis=1)),
    ):
        assert np.allclose(curve.mean, values.mean(axis=0))
        assert np.allclose(curve.error, values.std(axis=0, ddof=1) / math.sqrt(40))


@pytest.mark.parametrize("window", [2, 7, 60, 1000])
def test_moving_averages_agree_with_plain_loops(result: Result, mean: Result, window: int) -> None:
    regret = result.regret["ucb"]
    smooth = np.stack([regret[:, max(0, t - window + 1) : t + 1].mean(axis=1) for t in range(60)])
    curve = result.instantaneous("ucb", window)
    assert np.allclose(curve.mean, smooth.mean(axis=1))
    assert np.allclose(curve.error, smooth.std(axis=1, ddof=1) / math.sqrt(40))
    rough = mean.instantaneous("ucb", window)
    assert np.allclose(rough.mean, curve.mean)
    assert (rough.error >= curve.error - 1e-12).all()


def test_differences_are_paired(result: Result, mean: Result) -> None:
    pairs = result.regret["ucb"].sum(axis=1) - result.regret["mts"].sum(axis=1)
    found = result.difference("ucb", "mts")
    assert found.mean == pytest.approx(pairs.mean())
    assert found.error == pytest.approx(pairs.std(ddof=1) / math.sqrt(40))
    assert found.high - found.mean == pytest.approx(2.0227 * found.error, rel=1e-4)  # t, 39 degrees
    assert found.mean - found.low == pytest.approx(found.high - found.mean)
    assert found == mean.difference("ucb", "mts")
    assert str(found).startswith("ucb - mts: ")
    wide = result.difference("ucb", "mts", level=0.99)
    assert wide.low < found.low < found.high < wide.high
    assert result.difference("ts", "ts").mean == 0.0


def test_intervals_cover_as_often_as_they_say() -> None:
    env, covered, truth = Synthetic(n_arms=3, n_states=2), 0, []
    found = []
    for seed in range(60):
        run = simulate(env, ["ucb", "ts"], 20, 24, seed, progress=False, workers=1)
        found.append(run.difference("ucb", "ts", level=0.8))
        truth.append(found[-1].mean)
    middle = float(np.mean(truth))
    covered = sum(f.low <= middle <= f.high for f in found)
    assert 36 <= covered <= 58


def test_summary_is_a_table(result: Result) -> None:
    summary = result.summary()
    text = str(summary)
    assert "40 users after 60 rounds, seed 2" in text
    assert [line.split()[0] for line in text.splitlines()[-3:]] == ["ucb", "ts", "mts"]
    assert len({len(line) for line in text.splitlines()[3:]}) == 1
    assert repr(summary) == text
    row = summary.rows[0]
    assert row["regret"] == pytest.approx(result.regret["ucb"].sum(axis=1).mean())
    assert list(row) == ["policy", "regret", "error", "seconds", "cpu_seconds"]


def test_summary_converts_to_data_frames(result: Result) -> None:
    polars, pandas = result.summary().to_polars(), result.summary().to_pandas()
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(pandas, pd.DataFrame)
    assert polars.columns == list(pandas.columns)
    assert polars["policy"].to_list() == pandas["policy"].tolist() == ["ucb", "ts", "mts"]


def test_the_lower_bound_is_the_mean_over_users(result: Result) -> None:
    problems = ENV.sample(40, seed=2)
    expected = [
        regret_lower_bound(problems.means[u], problems.known_orders[u], 1.0).constant  # type: ignore[arg-type]
        for u in range(40)
    ]
    assert result.lower_bound() == pytest.approx(np.mean(expected))
    summary = result.summary(bound=True)
    floor = result.lower_bound() * math.log(60)
    assert summary.rows[1]["times_bound"] == pytest.approx(summary.rows[1]["regret"] / floor)
    assert "mean over the problems of 40 users" in str(summary)


def test_a_shared_problem_is_bounded_once() -> None:
    means = np.array([3.0, 2.0, 1.0, 0.0])
    constant = regret_lower_bound(means, shared_orders(), 1.0).constant
    assert mean_lower_bound(fixed(), 30, seed=0) == pytest.approx(constant)


def test_a_bound_of_zero_has_no_multiples() -> None:
    from lobandits.orders import LatentOrders

    env = FixedProblems([1.0, 0.0], LatentOrders.from_rankings([[0, 1]]), 1.0)
    run = simulate(env, ["ucb"], 10, 8, progress=False)
    assert math.isnan(run.summary(bound=True).rows[0]["times_bound"])
    assert " - " in str(run.summary(bound=True))


def test_a_single_user_has_no_error() -> None:
    run = simulate(ENV, ["ucb", "ts"], 10, 1, progress=False)
    assert math.isnan(run.summary().rows[0]["error"])
    assert math.isnan(run.difference("ucb", "ts").low)
    assert isinstance(run.plot(), Figure)


@pytest.mark.parametrize("keep", ["all", "mean"])
def test_plots_have_labels_lines_and_bands(keep: str, request: pytest.FixtureRequest) -> None:
    run: Result = request.getfixturevalue({"all": "result", "mean": "mean"}[keep])
    (axes,) = run.plot(bound=True).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][:3] == ["ucb", "ts", "mts"]
    assert "lower bound" in legend.get_texts()[3].get_text()
    assert axes.get_xlabel() == "round"
    assert axes.get_ylabel() == "cumulative regret"
    assert len(axes.collections) == 3
    (other,) = run.plot(cumulative=False, window=20).axes
    assert other.get_ylabel() == "regret, mean of the last 20 rounds"


def test_plots_go_where_they_are_told(result: Result) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert result.plot(ax=right) is figure
    assert len(right.lines) == 3
    assert len(left.lines) == 0


def test_wrong_questions_are_refused(result: Result) -> None:
    with pytest.raises(LobInputError, match="unknown policy 'mtss'; did you mean 'mts'"):
        result.cumulative("mtss")
    with pytest.raises(LobInputError, match="window must be a whole number"):
        result.instantaneous("ucb", 0)
    with pytest.raises(LobInputError, match="level must lie between"):
        result.difference("ucb", "ts", level=95)
    with pytest.raises(LobInputError, match="bound is on cumulative regret"):
        result.plot(bound=True, cumulative=False)


def test_it_prints(result: Result) -> None:
    assert repr(result) == "Result(ucb, ts, mts: 40 users, horizon 60, seed 2)"
