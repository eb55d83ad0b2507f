import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lobandits.experiments.claims import (
    FAILS,
    HOLDS,
    UNDECIDED,
    UNTESTABLE,
    Estimate,
    Evidence,
    all_of,
    any_of,
    estimate,
    exactly,
    share,
)

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
