import numpy as np
import pytest

from lobandits import LobInputError
from lobandits.orders import LatentOrders
from lobandits.theory import LowerBound, regret_lower_bound

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
