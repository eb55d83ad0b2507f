import io
from itertools import pairwise

import numpy as np
import pytest

from lobandits import LobInputError
from lobandits.orders import LatentOrders
from lobandits.theory import LowerBound, regret_lower_bound
from lobandits.theory.lower_bound import plot_bounds

ORDERS = LatentOrders.from_rankings([[0, 1, 2], [1, 2, 0]])


def test_result_is_a_value() -> None:
    bound = regret_lower_bound([3.0, 2.0, 1.0], ORDERS, 1.0)
    assert bound.regret(1) == 0.0
    assert bound.regret(100) == pytest.approx(bound.constant * np.log(100))
    for array in (bound.allocation, bound.instance, bound.means):
        assert array is not None
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        bound.constant = 1.0  # type: ignore[misc]
    with pytest.raises(LobInputError, match="horizon"):
        bound.regret(0)


def test_a_loose_certificate_is_said() -> None:
    exact = regret_lower_bound([3.0, 2.0, 1.0], ORDERS, 1.0)
    assert "certified" not in str(exact)
    loose = LowerBound(**{**vars(exact), "gap": 0.01})
    assert str(loose).endswith("certified to a relative gap of 0.01 only")


ORDERS = LatentOrders.from_rankings([["a", "$b$", "c"], ["$b$", "c", "a"]], ["a", "$b$", "c"])
MEANS = [3.0, 2.0, 1.0]
TABLE = [MEANS, [3.0, 6.0, 4.0]]


def test_every_bound_is_drawn_and_adds_up_to_its_constant() -> None:
    bounds = [regret_lower_bound(MEANS, ORDERS, 1.0, kind, TABLE) for kind in ("lob", "lb", "mab")]
    figure = plot_bounds(bounds)
    left, right = figure.axes
    assert left.get_title() == r"closest confusing instance, state 1: \$b\$ best"
    widths = [[bar.get_width() for bar in bars] for bars in right.containers]
    assert [sum(row) for row in widths] == pytest.approx([bound.constant for bound in bounds])
    legend = right.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert [label.split(":")[0] for label in labels] == ["LOB", "LB", "MAB"]
    figure.savefig(io.BytesIO(), format="png")


def test_arms_stand_best_on_top() -> None:
    figure = regret_lower_bound([1.0, 0.5, 2.0], None, 1.0, "mab").plot()
    left = figure.axes[0]
    assert [label.get_text() for label in left.get_yticklabels()] == ["2", "0", "1"]
    bottom, top = left.get_ylim()
    assert bottom > top
    assert all(a <= b for a, b in pairwise(left.get_yticks()))


def test_nothing_to_confuse_is_said() -> None:
    figure = regret_lower_bound(MEANS, LatentOrders.from_rankings([[0, 1, 2]]), 1.0).plot()
    assert figure.axes[0].get_title() == "no confusing instance"
    figure.savefig(io.BytesIO(), format="png")


def test_wrong_bounds_are_refused() -> None:
    with pytest.raises(LobInputError, match="at least one"):
        plot_bounds([])
    two = [regret_lower_bound(means, None, 1.0, "mab") for means in ([1.0, 0.0], [2.0, 0.0])]
    with pytest.raises(LobInputError, match="different means"):
        plot_bounds(two)
