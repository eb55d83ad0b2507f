import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.policies.reference_ids import groups, positions
from tests.projection.cases import KINDS

from lobandits.orders import LatentOrders, PartialOrder
from lobandits.policies.line_prior import place_arms

pytestmark = pytest.mark.plain


def placed(order: PartialOrder) -> tuple[list[float], list[int], int]:
    k = order.n_arms
    orders = LatentOrders.from_relations(
        k, [[(int(a), int(b)) for a, b in np.argwhere(order.precedes)]]
    )
    z, group, below = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    n_groups = place_arms(orders.tables, 0, 0, z, group, below)
    return z.tolist(), group.tolist(), n_groups


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_agrees_with_counting(kind: str, data: st.DataObject) -> None:
    order = data.draw(KINDS[kind](data.draw(st.integers(1, 9))))
    z, group, n_groups = placed(order)
    np.testing.assert_allclose(z, positions(order.precedes), atol=1e-12)
    assert sorted(set(group)) == list(range(n_groups))
    expected = groups(order.precedes)
    pairs = {*zip(group, expected, strict=True)}
    assert len(pairs) == n_groups == len(set(expected))


def test_a_chain_is_centred_and_scaled() -> None:
    z, group, n_groups = placed(PartialOrder.from_ranking([2, 0, 1]))
    np.testing.assert_allclose(z, np.array([0.0, -1.0, 1.0]) / np.std([0, 1, 2]), atol=1e-15)
    assert (group, n_groups) == ([0, 0, 0], 1)
