"""Projections of batches of means, checked: one for each row, or the losses of all tops."""

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import FloatArray, IntArray, finite_array, not_negative, number_array
from lobandits.basics.kernel import kernel
from lobandits.errors import LobInputError
from lobandits.orders import DAG, LatentOrders, PartialOrder, UserOrders
from lobandits.orders.arms import arm_index
from lobandits.projection.kernels import losses_of_chains, losses_of_dags, project_rows
from lobandits.projection.scratch import make_scratch

LARGEST = 1e50  # of values and weights: the kernels multiply up to four weights and two values


def project(
    values: ArrayLike,
    weights: ArrayLike,
    order: PartialOrder,
    top: int | str | None = None,
    min_gap: float = 0.0,
) -> FloatArray:
    """Argmin over mu of sum_a w_a (mu_a - y_a)^2, where mu keeps the order.

    The nearest point, in weighted L2, of the closed cone H = {mu : mu_a >= mu_b wherever a is
    above b}; with ``top``, of its part where no arm exceeds ``top``. Exact, not iterative.

    Parameters
    ----------
    values
        The means y (..., n_arms), up to 1e50 in size: every leading axis is a batch.
    weights
        The weights w (for bandits: plays), which broadcast to the shape of ``values``. An arm of
        weight 0 (never played) costs nothing, and its fit is its value cut to what the order
        allows. Others lie in 1e-50 ... 1e50.
    order, top
        The order to keep; an arm, maximal in it, to put above all others.
    min_gap
        For a total order, the least difference between neighbours.

    Examples
    --------
    >>> order = PartialOrder.from_ranking([0, 1, 2])
    >>> project([1.0, 3.0, 0.0], [1.0, 1.0, 1.0], order)
    array([2., 2., 0.])
    """
    if not isinstance(order, PartialOrder):
        raise LobInputError(f"order must be a PartialOrder, such as orders[0], got {order!r}")
    y, w = _checked(values, weights, order.n_arms)
    head = -1 if top is None else arm_index(order.arms, top)
    if head >= 0 and not order.maximal[head]:
        above = order.arms[int(np.argmax(order.precedes[:, head]))]
        raise LobInputError(
            f"arm {order.arms[head]!r} cannot be on top: {above!r} is above it in the order"
        )
    rows, loads = y.reshape(-1, order.n_arms), w.reshape(-1, order.n_arms)
    gap = not_negative("min_gap", min_gap)
    if gap > 0:
        if not order.is_total:
            raise LobInputError(f"min_gap needs a total order, got {order}")
        steps: FloatArray = gap * order.precedes.sum(axis=0)  # turns the gap into mere order
        fits = project_each(rows + steps, loads, order, 0, head)[0] - steps
    else:
        fits, _ = project_each(rows, loads, order, 0, head)
    return fits.reshape(y.shape)


def projection_losses(
    values: ArrayLike, weights: ArrayLike, orders: LatentOrders | UserOrders
) -> FloatArray:
    """L[s, a] = min over mu in H_s with a on top of sum_b w_b (mu_b - y_b)^2.

    Of shape (..., n_states, n_arms); infinity where arm a cannot be on top of state s.

    Parameters
    ----------
    values, weights
        Means and weights as in :func:`project`, of shape (..., n_arms).
    orders
        All states; with orders per user, ``values`` has shape (n_users, n_arms).

    Examples
    --------
    >>> orders = LatentOrders.from_rankings([[0, 1], [1, 0]])
    >>> projection_losses([1.0, 3.0], [1.0, 1.0], orders)
    array([[ 2., inf],
           [inf,  0.]])
    """
    if not isinstance(orders, LatentOrders | UserOrders):
        raise LobInputError(f"orders must be LatentOrders or UserOrders, got {orders!r}")
    y, w = _checked(values, weights, orders.n_arms)
    if isinstance(orders, UserOrders) and y.shape[:-1] != (orders.n_users,):
        raise LobInputError(
            f"values must have shape {(orders.n_users, orders.n_arms)}, one row for each user "
            f"of the orders, got {y.shape}"
        )
    rows = y.reshape(-1, orders.n_arms)
    out = np.full((len(rows), orders.n_states, orders.n_arms), np.inf)
    loads, tables, scratch = w.reshape(rows.shape), orders.tables, make_scratch(orders.n_arms)
    losses_of_chains(rows, loads, tables, out, scratch)
    if (tables.kind == DAG).any():  # else what projects these need not be compiled
        losses_of_dags(rows, loads, tables, out, np.empty(orders.n_arms), scratch)
    return out.reshape((*y.shape[:-1], orders.n_states, orders.n_arms))


def project_each(
    values: FloatArray,
    weights: FloatArray,
    orders: PartialOrder | LatentOrders,
    states: IntArray | int,
    tops: IntArray | int,
) -> tuple[FloatArray, FloatArray]:
    """Project row i on H of ``states[i]`` with ``tops[i]`` on top (-1: any): fits and losses."""
    y, w = _own(values), _own(weights)
    fits, losses = np.empty_like(y), np.empty(len(y))
    state_of, top_of = (np.array(np.broadcast_to(n, len(y)), np.int64) for n in (states, tops))
    scratch = make_scratch(orders.n_arms)
    project_rows(y, w, orders.tables, state_of, top_of, fits, losses, scratch)
    return fits, losses


def _checked(values: ArrayLike, weights: ArrayLike, n_arms: int) -> tuple[FloatArray, FloatArray]:
    """Return values and weights as writable C arrays of one shape."""
    y = number_array("values", values)
    w = number_array("weights", weights)
    if y.ndim == 0 or y.shape[-1] != n_arms:
        raise LobInputError(f"values must have shape (..., {n_arms}), got {y.shape}")
    if w.shape != y.shape:
        try:
            w = np.broadcast_to(w, y.shape)
        except ValueError:
            raise LobInputError(f"weights of shape {w.shape} do not fit values {y.shape}") from None
    y, w = _own(y), _own(w)
    if not ordinary(y.ravel(), w.ravel(), LARGEST):
        _explain(y, w)
    return y, w


@kernel
def ordinary(values: FloatArray, weights: FloatArray, largest: float) -> bool:
    """Tell whether all values are finite, all weights zero or positive, and none too large."""
    fine = True
    for i in range(values.shape[0]):
        w = weights[i]
        fine &= (abs(values[i]) <= largest) & (w <= largest) & ((w >= 1.0 / largest) | (w == 0.0))
    return fine


def _explain(values: FloatArray, weights: FloatArray) -> None:
    finite_array("values", values)
    finite_array("weights", weights)
    tiny = (weights > 0) & (weights < 1 / LARGEST)
    for name, array, wrong, rule in (
        ("values", values, np.abs(values) > LARGEST, f"not exceed {LARGEST:g}"),
        ("weights", weights, weights < 0, "not be negative"),
        ("weights", weights, weights > LARGEST, f"not exceed {LARGEST:g}"),
        ("weights", weights, tiny, f"be 0 or at least {1 / LARGEST:g}"),
    ):
        for where in np.argwhere(wrong)[:1].tolist():
            raise LobInputError(f"{name}{where} is {array[tuple(where)]}; {name} must {rule}")


def _own(array: FloatArray) -> FloatArray:
    """Return the array, or a copy if kernels compiled for writable C arrays cannot take it."""
    return array if array.flags.carray else np.array(array, order="C")
