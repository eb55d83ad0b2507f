"""The asymptotic lower bound on regret (Theorem 1): the Graves-Lai program, in its three forms."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, finite_array, one_of, read_only
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.orders.arms import arm_names
from lobandits.projection import project_each
from lobandits.theory.cutting_planes import Cover, cover
from lobandits.theory.instance import (
    ScaledInstance,
    checked_means,
    require_state,
    rounding,
    scale_instance,
    slack,
)
from lobandits.theory.lower_bound import LowerBound


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
      the best arm another mean, as in the paper's synthetic given.
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
    given = scale_instance(mu, arm_names(len(mu)) if orders is None else orders.arms, sigma)
    if len(mu) == 1:
        return _bound(given, kind, "there is only one arm, so nothing to confuse it with")
    if kind == "lb":
        return _latent(given, state_means)
    if kind == "mab" or orders is None:
        return _unstructured(given)
    return _latent_order(given, orders)


def _unstructured(given: ScaledInstance) -> LowerBound:
    """sum_a 2 sigma^2 / Delta_a; the nearest rival is the arm with the smallest gap."""
    rival = int(np.where(given.others, given.means, -np.inf).argmax())
    instance = given.means.copy()
    instance[rival] = given.means[given.best]
    exact = Cover(given.safe, float(given.gaps @ given.safe), 0, np.empty(0))
    note = "nothing is known of the arms, so every other arm could be the best one"
    return _bound(given, "mab", note, exact, None, rival, instance)


def _latent(given: ScaledInstance, state_means: ArrayLike | None) -> LowerBound:
    """Alt(mu) is finite: the states with another best arm, and the same mean of this one."""
    table, equal = _state_table(given, state_means)
    rivals = table.max(axis=1) > table[:, given.best] + equal
    if not rivals.any():
        return _bound(given, "lb", f"arm {given.arms[given.best]!r} is the best one in every state")
    same = np.abs(table[:, given.best] - given.means[given.best]) <= equal
    states = np.flatnonzero(rivals & same)
    if len(states) == 0:
        note = "every state with another best arm gives this one another mean, seen at no regret"
        return _bound(given, "lb", note)
    rows = given.rows((table[states] - given.means[given.best]) / given.spread)
    solution = cover(given.gaps, lambda _: rows, given.safe)
    state = int(states[solution.shares.argmax()])
    top = int(table[state].argmax())
    note = f"with state {state}, arm {given.arms[top]!r} could be the best one"
    return _bound(given, "lb", note, solution, state, top, table[state])


def _state_table(given: ScaledInstance, state_means: ArrayLike | None) -> tuple[FloatArray, float]:
    """Return the states' means, the instance among them, and how far equal means may differ."""
    if state_means is None:
        raise LobInputError("kind='lb' needs state_means (n_states, n_arms)")
    table = finite_array("state_means", state_means, ndim=2)
    if table.shape[0] == 0 or table.shape[1] != len(given.means):
        raise LobInputError(
            f"state_means must have shape (n_states, {len(given.means)}), got {table.shape}"
        )
    equal = slack(given.means) + rounding(table.ravel())
    off = np.abs(table - given.means).max(axis=1)
    if off.min() > equal:
        raise LobInputError(
            f"means is no row of state_means, so the latent bandit's bound does not apply to it; "
            f"the closest is state {off.argmin()}, off by {off.min():.3g}"
        )
    return table, equal


def _latent_order(given: ScaledInstance, orders: LatentOrders) -> LowerBound:
    """Alt(mu) is a union of cones, one for each state and arm that may top it: cutting planes."""
    require_state(given.means, orders)
    confusers = find_confusers(orders, given.best)
    if len(confusers.states) == 0:
        note = f"no confusing instance: arm {given.arms[given.best]!r} tops every state"
        return _bound(given, "lob", note)

    def separate(y: FloatArray) -> FloatArray:
        return given.rows(confusers.nearest(given.scaled, given.widen(y)))

    solution = cover(given.gaps, separate, given.safe)
    pair = int(solution.shares.argmax())
    # a trace of weight on every arm: those that the plan leaves out move no more than they must
    weights = given.widen(solution.plan + 1e-9 * solution.plan.max())
    nearest = confusers.nearest(given.scaled, weights)[pair]
    state, top = int(confusers.states[pair]), int(confusers.tops[pair])
    moved = np.abs(nearest - given.scaled) > 1e-12
    instance = np.where(moved, given.means[given.best] + given.spread * nearest, given.means)
    note = f"with state {state}, arm {given.arms[top]!r} could be the best one"
    return _bound(given, "lob", note, solution, state, top, instance)


def _bound(
    given: ScaledInstance,
    kind: str,
    note: str,
    solution: Cover | None = None,
    state: int | None = None,
    top: int | None = None,
    instance: FloatArray | None = None,
) -> LowerBound:
    """Return the solution in the units of the means; without one, nothing can be confused."""
    plan, lower, rounds = solution[:3] if solution else (np.zeros_like(given.gaps), 0.0, 0)
    ratio = given.sigma / given.spread
    price = float(given.gaps @ plan)
    return LowerBound(
        kind=kind,
        constant=2.0 * ratio * given.sigma * price,
        allocation=read_only(2.0 * ratio * ratio * given.widen(plan)),
        gap=max(0.0, 1.0 - lower / price) if price else 0.0,
        rounds=rounds,
        note=note,
        means=read_only(given.means.copy()),
        arms=given.arms,
        state=state,
        top=top,
        instance=None if instance is None else read_only(instance.copy()),
    )


class Confusers(NamedTuple):
    """Pairs (state, top): in that state the arm ``top``, not the best arm, may be the best.

    ``lifted`` (pairs, k) are the arms that must then stand above the best arm.
    """

    orders: LatentOrders
    best: int
    states: IntArray
    tops: IntArray
    lifted: BoolArray

    def nearest(self, means: FloatArray, weights: FloatArray) -> FloatArray:
        """Solve argmin over lambda of sum_a w_a (lambda_a - mu_a)^2, for each pair: (pairs, k).

        Lambda lies in the pair's closed cone {lambda in H_s : lambda_top >= all others} and is
        mu* on the best arm. Every mean, so every pooled average, is at most mu*. Hence, exactly,

        * an arm that must stand above the best arm is lifted to mu*, no further;
        * the other arms are projected on H_s as if the lifted arms and the best arm were absent:
          one isotonic regression for each pair, in which absent arms have weight 0.
        """
        peak = means[self.best]
        fixed = self.lifted.copy()
        fixed[:, self.best] = True
        values = np.where(fixed, peak, means)
        loads = np.where(fixed, 0.0, weights)
        fits, _ = project_each(values, loads, self.orders, self.states, -1)
        instances: FloatArray = np.where(fixed, peak, np.minimum(fits, peak))
        return instances


def find_confusers(orders: LatentOrders, best: int) -> Confusers:
    """Return the pairs (state, top) that can be confused with an instance where ``best`` is best.

    A state that puts arms above ``best`` lifts them all; any other top would be lifted in addition,
    so one pair stands for all. A state that leaves ``best`` on top of its order, the true one
    included, confuses through each other arm that it leaves on top.
    """
    above = orders.precedes[:, :, best]
    first = np.zeros_like(above)
    heads = above & orders.maximal
    first[np.arange(len(above)), heads.argmax(axis=1)] = True
    rivals = np.where(above.any(axis=1, keepdims=True), first & heads, orders.maximal)
    rivals[:, best] = False
    states, tops = np.nonzero(rivals)
    lifted = above[states]
    lifted[np.arange(len(states)), tops] = True
    return Confusers(orders, best, states, tops, lifted)
