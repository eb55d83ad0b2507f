r"""A prior for those who have orders and nothing else: it knows no scale.

.. math:: \eta_a = \alpha + \lambda_c + g (1 + 0.3 t_c) \, x_a + g \, \varepsilon_a, \qquad
          \varepsilon_a \sim N(0, 0.3^2 + \mathrm{Var}_a),

for an arm a of chain c, with x its place from the middle of the chain. Eight scales g, all as
likely, stand for what is not known; the personal shift alpha is as good as flat, and every chain
has a level lambda of about g k / 3, where there are several, and a slope of its own. Arms that an
order compares, if only through others, are of one chain. Where it leaves open how an arm compares
with n others of the chain, these stand anywhere among the arms below, b, and above, a: so many are
below as a beta-binomial variable of n, b + 1 and a + 1, whose mean and variance x and Var take.
"""

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, positive
from lobandits.beliefs.gaussian import Gaussian
from lobandits.beliefs.posterior import Components
from lobandits.beliefs.prior import Prior
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders

OWN = 0.3  # g: the deviation of an arm, and of a chain's slope
SCALES = 2.0 ** np.arange(-4, 4)  # of 3 sigma / sqrt(k)
FLAT = 50.0  # sigma: the standard deviation of the shift
EXPERT = 0.999  # the chance that orders which are known hold for a user


def prior_of_orders(orders: LatentOrders, sigma: float = 1.0) -> Prior:
    """Return the scale-free prior of orders, for Gaussian rewards whose noise is ``sigma``.

    >>> orders = LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]])
    >>> prior_of_orders(orders).means
    array([[ 0., -1.,  1.],
           [ 1.,  0., -1.]])
    """
    if not isinstance(orders, LatentOrders):
        raise LobInputError(f"orders must be LatentOrders, got {type(orders).__name__}")
    c, _ = components_of_orders(orders, positive("sigma", sigma))
    m = orders.n_states
    return Prior(
        arms=orders.arms,
        shares=np.full(m, 1.0 / m),
        means=c.mean[0],
        loadings=c.loading,
        own=c.own[0],
        scales=np.zeros(m),
        likelihood=Gaussian(sigma),
        factors=c.factor,
        directions=c.direction[0],
        known=orders,
    )


def components_of_orders(
    orders: LatentOrders | UserOrders, sigma: float, log_shares: FloatArray | None = None
) -> tuple[Components, IntArray]:
    """Return the prior of orders as kernels read it, also where each user has orders of their own.

    ``log_shares``, (m,), tell how common the states are, up to a constant; by default all alike.
    Also return the shuffles of the columns and of the arms' own parts, for points: those of a chain
    are the same however many chains other users have.
    """
    closed = orders.precedes
    above = closed[None] if closed.ndim == 3 else closed
    k, m = above.shape[-1], above.shape[1]
    chain = _chains(above)
    place, spread = _places(above, chain)
    log = np.zeros(m) if log_shares is None else log_shares
    most = log.max()
    log = log - most - np.log(np.exp(log - most).sum() * len(SCALES))
    direction, shuffle = _directions(chain, place)
    components = Components(
        log_share=log[None] * np.ones((len(above), 1)),
        mean=place,
        direction=direction,
        loading=np.full((k, 1), FLAT * sigma),
        own=OWN**2 + spread,
        factor=3.0 * sigma / np.sqrt(k) * SCALES,
    )
    return components, np.concatenate([[0], 1 + shuffle, [1 + 2 * k]])


def _places(above: BoolArray, chain: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each arm's place from the middle of its chain, (u, m, k)."""
    over, under = above.sum(axis=2) + 1.0, above.sum(axis=3) + 1.0
    size = (chain[..., None] == chain[..., None, :]).sum(axis=-1)
    both = over + under
    n = size + 1.0 - both  # of the chain, that the order does not compare with the arm
    place = under + n * under / both - (size + 1.0) / 2.0
    return place, n * under * over * (both + n) / (both**2 * (both + 1.0))


def _directions(chain: IntArray, place: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return levels and slopes of chains, (u, m, k, e); a slope alone where there is one chain.

    Also number them, (e,): levels from 0, slopes from k.
    """
    k = chain.shape[-1]
    n_chains = int(chain.max()) + 1
    member = chain[..., None] == np.arange(n_chains)  # (u, m, k, chains)
    slope = OWN * place[..., None] * member
    if n_chains == 1:
        return np.ascontiguousarray(slope), np.full(1, k)
    several = (chain.max(axis=2) > 0)[..., None, None]
    level = k / 3.0 * member * several
    used = (slope != 0).any(axis=(0, 1, 2))
    number = np.concatenate([np.arange(n_chains), k + np.flatnonzero(used)])
    return np.ascontiguousarray(np.concatenate([level, slope[..., used]], axis=3)), number


def _chains(above: BoolArray) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return the chain of each arm, (u, m, k), from 0: what comparisons connect, long ones first.

    Every arm takes the least number among those that it is compared with, until none changes.
    """
    k = above.shape[-1]
    linked = above | np.swapaxes(above, -1, -2) | np.eye(k, dtype=np.bool_)
    label = np.broadcast_to(np.arange(k), linked.shape[:-1]).copy()
    while True:
        least = np.where(linked, label[..., None, :], k).min(axis=-1)
        if (least == label).all():
            break
        label = least
    heads = label == np.arange(k)
    size = (label[..., None, :] == np.arange(k)[:, None]).sum(axis=-1)
    rank = np.argsort(np.argsort(-size * heads, axis=-1, kind="stable"), axis=-1)
    return np.take_along_axis(rank, label, axis=-1)
