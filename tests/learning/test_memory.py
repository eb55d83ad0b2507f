"""What would not fit is refused before memory is taken."""

import numpy as np
import pytest

import lobandits as lob
from lobandits.learning import memory
from lobandits.learning.memory import available_memory, check_memory
from lobandits.learning.prior import MOST_ARMS

LESS = 2**14


def wide_table(n_arms: int) -> lob.RewardTable:
    """Return two users who tried all of so many arms once."""
    ones = np.ones((2, n_arms), np.int64)
    sums = np.arange(2.0 * n_arms).reshape(2, -1)
    return lob.RewardTable(np.arange(2), tuple(map(str, range(n_arms))), ones, sums, sums**2)


def test_memory_is_told() -> None:
    free = available_memory()
    assert free is None or free > LESS
    check_memory(LESS, "a megabyte", "nothing")


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: LESS)
    with pytest.raises(lob.LobInputError, match=r"a table needs 2\.0 GiB of memory, and 0\.0 are"):
        check_memory(2 * 2**30, "a table", "be modest")
    with pytest.raises(lob.LobInputError, match="in 19,900 pairs of arms needs"):
        lob.learn_orders(wide_table(200), n_states=2, method="kendall")


@pytest.mark.parametrize("n_states", [None, 2])
def test_more_arms_than_a_prior_can_hold(n_states: int | None) -> None:
    with pytest.raises(
        lob.LobInputError, match=r"there are 401 arms, .* is this the column of arms"
    ):
        lob.learn_orders(wide_table(MOST_ARMS + 1), n_states=n_states)
