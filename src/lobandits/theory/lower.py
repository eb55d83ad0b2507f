"""The asymptotic lower bound on regret (Theorem 1), in its three forms."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import BoolArray, FloatArray, finite_array, one_of, positive, read_only
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.orders.arms import arm_names
from lobandits.theory.bound import LowerBound
from lobandits.theory.graves_lai import Cover, cover, find_confusers

LARGEST = 1e300
RELATIVE = 1e-9  # differences below this share of the spread of the means count as equality


def regret_lower_bound(
    means: ArrayLike,
    orders: LatentOrders | None,
    sigma: float,
    kind: str = "lob",
    state_means: ArrayLike | None = None,
) -> LowerBound:
    """Solve min over c >= 0 of sum_a c_a Delta_a, sum_a c_a KL(mu_a, lambda_a) >= 1 on Alt(mu).

    Theorem 1: liminf Reg(T) / log T is at least this for every uniformly good policy, with
    KL(x, y) = (x - y)^2 / (2 sigma^2). Playing the best arm costs no regret, so Alt(mu) has only
    the instances lambda that agree with mu on it and have another best arm:

    * ``"mab"``: all of them; sum_a 2 sigma^2 / Delta_a.
    * ``"lb"``: rows of ``state_means``; a linear program. It is 0 where every rival state gives
      the best arm another mean, as in the paper's synthetic task.
    * ``"lob"``: those in the cone H_s of some state s; cutting planes.

    Parameters
    ----------
    means
        The instance mu (k,), with one best arm. For ``"lob"`` it must agree with some state's
        order (equal means agree with either), for ``"lb"`` be a row of ``state_means``.
    orders
        The states' orders; for ``"lb"`` and ``"mab"`` only the arms' names matter.
    sigma
        Standard deviation of the rewards.
    kind, state_means
        ``"lob"``, ``"lb"`` or ``"mab"``; (m, k), for ``"lb"``.

    Examples
    --------
    >>> orders = LatentOrders.from_rankings([["a", "b", "c"], ["c", "a", "b"]], ["a", "b", "c"])
    >>> print(regret_lower_bound([3.0, 2.0, 1.0], orders, sigma=1.0))
    LOB lower bound: regret >= 1 log T
    with state 1, arm 'c' could be the best one
    plays per log T for information: c 0.5
    closest confusing instance: c 1 -> 3
    """
    one_of("kind", kind, ("lob", "lb", "mab"))
    if orders is None and kind == "lob":
        raise LobInputError("kind='lob' needs orders; without orders the bound is kind='mab'")
    mu = checked_means(means, orders)
    task = _task(mu, arm_names(len(mu)) if orders is None else orders.arms, sigma)
    if len(mu) == 1:
        return _bound(task, kind, "there is only one arm, so nothing to confuse it with")
    if kind == "lb":
        return _latent(task, state_means)
    if kind == "mab" or orders is None:
        return _unstructured(task)
    return _latent_order(task, orders)


def checked_means(means: ArrayLike, orders: LatentOrders | None) -> FloatArray:
    """Return the means (k,), one for each arm of the orders."""
    array = finite_array("means", means, ndim=1)
    if len(array) == 0:
        raise LobInputError("means is empty; give one mean per arm")
    if np.abs(array).max() > LARGEST:
        raise LobInputError(f"means must not exceed {LARGEST:g} in size")
    if not isinstance(orders, LatentOrders | None):
        raise LobInputError(
            f"orders must be LatentOrders, got {type(orders).__name__}; with orders per user, ask "
            "for one user at a time: orders[user]"
        )
    if orders is not None and len(array) != orders.n_arms:
        raise LobInputError(
            f"means has {len(array)} values, but the orders have {orders.n_arms} arms"
        )
    return array


def require_state(means: FloatArray, orders: LatentOrders) -> None:
    """Refuse means in no state's closed cone, and name the state that comes closest."""
    broken = orders.precedes & (means[:, None] < means[None, :] - _slack(means))
    counts = broken.sum(axis=(1, 2))
    if counts.min() == 0:
        return
    state = int(counts.argmin())
    above, below = np.argwhere(broken[state])[0]
    raise LobInputError(
        f"means agree with no state's order, so the bound does not apply to them; the closest is "
        f"state {state}, of which they break {counts[state]} relation(s), such as "
        f"{orders.arms[above]!r} ({means[above]:g}) above "
        f"{orders.arms[below]!r} ({means[below]:g})"
    )


def _slack(means: FloatArray) -> float:
    """Return the difference below which means count as equal."""
    return RELATIVE * float(np.ptp(means)) + _rounding(means)


def _rounding(means: FloatArray) -> float:
    """Return a few units in the last place of the largest mean."""
    return 4.0 * float(np.spacing(np.abs(means).max()))


class Task(NamedTuple):
    """The instance in units in which mu* = 0 and the widest gap is 1.

    The program's variables are y_a = c_a / (2 (sigma / spread)^2), for ``others``, all arms but the
    best one; their scaled ``gaps`` are its prices.
    """

    means: FloatArray
    arms: tuple[str, ...]
    best: int
    others: BoolArray
    scaled: FloatArray
    gaps: FloatArray
    spread: float
    sigma: float

    def rows(self, instances: FloatArray) -> FloatArray:
        """Return the coefficients of y in the divergence from scaled instances (n, k)."""
        shift: FloatArray = (instances - self.scaled)[:, self.others]
        return shift * shift

    def widen(self, y: FloatArray) -> FloatArray:
        """Return y with 0 for the best arm: (k,)."""
        wide = np.zeros(len(self.means))
        wide[self.others] = y
        return wide

    @property
    def safe(self) -> FloatArray:
        """The y that is enough without any structure."""
        plan: FloatArray = 1.0 / self.gaps**2
        return plan


def _task(mu: FloatArray, arms: tuple[str, ...], sigma: float) -> Task:
    std = positive("sigma", sigma)
    best = int(mu.argmax())
    tied = np.flatnonzero(mu >= mu[best] - _rounding(mu))
    if len(tied) > 1:
        names = " and ".join(repr(arms[a]) for a in tied)
        raise LobInputError(
            f"arms {names} tie for the best mean ({mu[best]:g}); the lower bound is for an "
            "instance with one best arm (with a tie, log T regret may not be needed at all)"
        )
    others = np.arange(len(mu)) != best
    spread = float(mu[best] - mu.min()) if others.any() else 1.0
    scaled = (mu - mu[best]) / spread
    gaps = -scaled[others]
    finest = spread * float(gaps.min(initial=1.0))
    if not 0.0 < std / finest * (std / finest) < math.inf:
        raise LobInputError(
            f"sigma ({std:g}) and the smallest gap ({finest:g}) are too far apart in scale"
        )
    return Task(mu, arms, best, others, scaled, gaps, spread, std)


def _unstructured(task: Task) -> LowerBound:
    """sum_a 2 sigma^2 / Delta_a; the nearest rival is the arm with the smallest gap."""
    rival = int(np.where(task.others, task.means, -np.inf).argmax())
    instance = task.means.copy()
    instance[rival] = task.means[task.best]
    exact = Cover(task.safe, float(task.gaps @ task.safe), 0, np.empty(0))
    note = "nothing is known of the arms, so every other arm could be the best one"
    return _bound(task, "mab", note, exact, None, rival, instance)


def _latent(task: Task, state_means: ArrayLike | None) -> LowerBound:
    if state_means is None:
        raise LobInputError("kind='lb' needs state_means (n_states, n_arms)")
    table = finite_array("state_means", state_means, ndim=2)
    if table.shape[0] == 0 or table.shape[1] != len(task.means):
        raise LobInputError(
            f"state_means must have shape (n_states, {len(task.means)}), got {table.shape}"
        )
    equal = _slack(task.means) + _rounding(table.ravel())
    off = np.abs(table - task.means).max(axis=1)
    if off.min() > equal:
        raise LobInputError(
            f"means is no row of state_means, so the latent bandit's bound does not apply to it; "
            f"the closest is state {off.argmin()}, off by {off.min():.3g}"
        )
    rivals = table.max(axis=1) > table[:, task.best] + equal
    if not rivals.any():
        return _bound(task, "lb", f"arm {task.arms[task.best]!r} is the best one in every state")
    same = np.abs(table[:, task.best] - task.means[task.best]) <= equal
    states = np.flatnonzero(rivals & same)
    if len(states) == 0:
        note = "every state with another best arm gives this one another mean, seen at no regret"
        return _bound(task, "lb", note)
    rows = task.rows((table[states] - task.means[task.best]) / task.spread)
    solution = cover(task.gaps, lambda _: rows, task.safe)
    state = int(states[solution.shares.argmax()])
    top = int(table[state].argmax())
    note = f"with state {state}, arm {task.arms[top]!r} could be the best one"
    return _bound(task, "lb", note, solution, state, top, table[state])


def _latent_order(task: Task, orders: LatentOrders) -> LowerBound:
    require_state(task.means, orders)
    confusers = find_confusers(orders, task.best)
    if len(confusers.states) == 0:
        note = f"no confusing instance: arm {task.arms[task.best]!r} tops every state"
        return _bound(task, "lob", note)

    def separate(y: FloatArray) -> FloatArray:
        return task.rows(confusers.nearest(task.scaled, task.widen(y)))

    solution = cover(task.gaps, separate, task.safe)
    pair = int(solution.shares.argmax())
    # a trace of weight on every arm: those that the plan leaves out move no more than they must
    weights = task.widen(solution.plan + 1e-9 * solution.plan.max())
    nearest = confusers.nearest(task.scaled, weights)[pair]
    state, top = int(confusers.states[pair]), int(confusers.tops[pair])
    moved = np.abs(nearest - task.scaled) > 1e-12
    instance = np.where(moved, task.means[task.best] + task.spread * nearest, task.means)
    note = f"with state {state}, arm {task.arms[top]!r} could be the best one"
    return _bound(task, "lob", note, solution, state, top, instance)


def _bound(
    task: Task,
    kind: str,
    note: str,
    solution: Cover | None = None,
    state: int | None = None,
    top: int | None = None,
    instance: FloatArray | None = None,
) -> LowerBound:
    """Return the solution in the units of the means; without one, nothing can be confused."""
    plan, lower, rounds = solution[:3] if solution else (np.zeros_like(task.gaps), 0.0, 0)
    ratio = task.sigma / task.spread
    price = float(task.gaps @ plan)
    return LowerBound(
        kind=kind,
        constant=2.0 * ratio * task.sigma * price,
        allocation=read_only(2.0 * ratio * ratio * task.widen(plan)),
        gap=max(0.0, 1.0 - lower / price) if price else 0.0,
        rounds=rounds,
        note=note,
        means=read_only(task.means.copy()),
        arms=task.arms,
        state=state,
        top=top,
        instance=None if instance is None else read_only(instance.copy()),
    )
