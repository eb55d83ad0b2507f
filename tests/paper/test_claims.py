import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from lobandits.paper.claims import (
    FAILS,
    HOLDS,
    UNDECIDED,
    UNTESTABLE,
    Claim,
    Estimate,
    Evidence,
    NotTestable,
    all_of,
    any_of,
    below,
    below_along,
    estimate,
    exactly,
    for_each,
    judge,
    share,
    trend,
)
from lobandits.paper.parts import Record, Records


def test_intervals_are_those_of_the_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(1, 1, 40), rng.normal(0, 1, 40)
    expected = ttest_rel(one, other).confidence_interval(0.9)
    assert estimate("d", one - other).interval(0.9) == pytest.approx(tuple(expected))


def test_one_user_leaves_all_open_and_an_exact_number_nothing() -> None:
    assert Estimate("one", 5.0, float("nan"), 1).interval() == (-np.inf, np.inf)
    assert exactly("number", 5.0).interval() == (5.0, 5.0)


def test_a_share_counts_two_hits_and_two_misses_more() -> None:
    found = share("trials", [1.0] * 6 + [0.0] * 2, above=0.5)
    assert (found.mean, found.n) == (0.25, 8)
    assert found.error == pytest.approx(np.sqrt(8 / 12 * 4 / 12 / 12))


UP, DOWN, OPEN = (Estimate(w, m, 1.0, 100) for w, m in (("up", 9.0), ("down", -9.0), ("open", 0.5)))
OPPOSITE = {HOLDS: FAILS, FAILS: HOLDS, UNDECIDED: UNDECIDED}
estimates = st.builds(
    Estimate,
    st.just("x"),
    st.floats(-10, 10),
    st.floats(0.01, 10),
    st.integers(2, 1000),
)


@pytest.mark.parametrize(
    ("found", "all_needed", "any_needed"),
    [
        ([UP], HOLDS, HOLDS),
        ([DOWN], FAILS, FAILS),
        ([OPEN], UNDECIDED, UNDECIDED),
        ([UP, UP], HOLDS, HOLDS),
        ([UP, DOWN], FAILS, HOLDS),
        ([UP, OPEN], UNDECIDED, HOLDS),
        ([DOWN, OPEN], FAILS, UNDECIDED),
        ([DOWN, DOWN], FAILS, FAILS),
        ([], UNTESTABLE, UNTESTABLE),
    ],
)
def test_verdicts(found: list[Estimate], all_needed: str, any_needed: str) -> None:
    assert all_of(found).verdict() == all_needed
    assert any_of(found).verdict() == any_needed


def test_trials_that_all_end_alike_leave_a_doubt() -> None:
    assert all_of([share("few", np.ones(20), above=0.95)]).verdict() == UNDECIDED
    assert all_of([share("many", np.ones(1000), above=0.95)]).verdict() == HOLDS
    assert all_of([share("none", np.zeros(1000), above=0.95)]).verdict() == FAILS
    heads = np.repeat([0.0, 1.0], 500)
    assert share("coins", heads, above=0.4).error == pytest.approx(
        estimate("coins", heads).error, rel=0.01
    )


def test_what_refutes_is_corrected_for_the_number_of_tries() -> None:
    slightly = Estimate("slightly below", -2.1, 1.0, 10_000)
    assert all_of([slightly]).verdict() == FAILS
    assert all_of([slightly, UP, UP]).verdict() == UNDECIDED
    above = Estimate("slightly above", 2.1, 1.0, 10_000)
    assert all_of([above] * 20).verdict() == HOLDS
    assert any_of([above, DOWN, DOWN]).verdict() == UNDECIDED


@given(st.lists(estimates, min_size=1, max_size=5), st.floats(0.1, 10))
def test_units_do_not_matter_and_any_is_the_opposite_of_all(
    found: list[Estimate], unit: float
) -> None:
    verdict = all_of(found).verdict()
    scaled = [Estimate(e.what, e.mean * unit, e.error * unit, e.n) for e in found]
    turned = [Estimate(e.what, -e.mean, e.error, e.n) for e in found]
    assert all_of(scaled).verdict() == verdict
    assert any_of(turned).verdict() == OPPOSITE[verdict]


@given(st.lists(estimates, min_size=1, max_size=5), estimates)
def test_another_condition_never_helps(found: list[Estimate], more: Estimate) -> None:
    if all_of(found).verdict() != HOLDS:
        assert all_of([*found, more]).verdict() != HOLDS


@given(st.lists(estimates, min_size=1, max_size=5))
def test_the_decisive_estimate_is_the_weakest(found: list[Estimate]) -> None:
    weakest = all_of(found).decisive
    assert all(weakest.mean / weakest.error <= e.mean / e.error for e in found)


def test_one_user_decides_nothing_and_exact_numbers_decide_at_once() -> None:
    assert all_of([estimate("one", [5.0])]).verdict() == UNDECIDED
    assert all_of([exactly("number", 0.1)]).verdict() == HOLDS
    assert all_of([exactly("number", -0.1)]).verdict() == FAILS
    assert Evidence((exactly("number", -0.1), UP)).decisive.what == "number"


def test_no_effect_is_called_one_in_few_cases_only() -> None:
    rng = np.random.default_rng(1)
    verdicts = [all_of([estimate("0", rng.normal(size=50))]).verdict() for _ in range(2000)]
    false = 1 - verdicts.count(UNDECIDED) / len(verdicts)
    assert abs(false - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 2000)


UP, DOWN = Estimate("up", 9.0, 1.0, 100), Estimate("down", -9.0, 1.0, 100)


def test_findings_by_variant_or_the_reason_why_there_are_none() -> None:
    def test(records: Records) -> dict[str, Evidence]:
        if records.data:
            raise NotTestable("no data")
        return {"a": all_of([UP]), "b": all_of([DOWN])}

    claim = Claim("id", "where", "words", "statistic", test)
    assert [(f.variant, f.verdict) for f in judge(claim, Records({}))] == [
        ("a", HOLDS),
        ("b", FAILS),
    ]
    (finding,) = judge(claim, Records({}, "generated data"))
    assert (finding.verdict, finding.reason) == (UNTESTABLE, "no data")
    (finding,) = judge(claim, None, "broke")
    assert (finding.verdict, finding.reason) == (UNTESTABLE, "broke")


def test_each_variant_is_tested_with_its_values() -> None:
    def test(records: Records, low: float, high: float) -> list[Estimate]:
        return [exactly("low", low), exactly("high", high)]

    variants = {"both": (1.0, 2.0), "one": (-1.0, 2.0)}
    every, some = for_each(variants, test), for_each(variants, test, any_of)
    assert {n: e.verdict() for n, e in every(Records({})).items()} == {"both": HOLDS, "one": FAILS}
    assert {n: e.verdict() for n, e in some(Records({})).items()} == {"both": HOLDS, "one": HOLDS}


def record(**regret: list[list[float]]) -> Record:
    return Record({}, np.array([1.0, 2.0]), {name: np.array(v) for name, v in regret.items()})


FEW = record(lobts=[[1.0, 1.0], [1.0, 2.0]], ts=[[2.0, 5.0], [3.0, 6.0]])
MANY = record(lobts=[[1.0, 4.0], [1.0, 4.0]], ts=[[2.0, 5.0], [3.0, 6.0]])


def test_differences_are_paired_by_user() -> None:
    (found,) = below(FEW, "lobts", ["ts"])
    assert (found.what, found.mean, found.error, found.n) == ("lobTS below TS", 4.0, 0.0, 2)
    (late,) = below(FEW, "lobts", ["ts"], start=0.5)
    assert late.mean == np.mean([3.0 - 0.0, 3.0 - 1.0])


def test_differences_along_an_axis_name_where_they_are() -> None:
    records = Records({(("n_states", 4),): FEW, (("n_states", 20),): MANY})
    found = below_along(records, "n_states", "lobts", ["ts"])
    assert [e.what for e in found] == ["lobTS below TS, m = 4", "lobTS below TS, m = 20"]
    (many,) = below_along(records, "n_states", "lobts", ["ts"], lambda m: m > 4)
    assert many == found[1]


def test_a_trend_is_each_users_slope_by_least_squares() -> None:
    q = np.array([0.0, 0.3, 1.0])
    totals = np.random.default_rng(0).random((3, 5))
    slopes = trend(dict(zip(q.tolist(), totals, strict=True)))
    np.testing.assert_allclose(slopes, np.polyfit(q, totals, 1)[0])
