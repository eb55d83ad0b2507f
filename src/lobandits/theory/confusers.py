"""The instances that a policy must rule out: another arm is best, and this one looks the same."""

from typing import NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits.orders import LatentOrders
from lobandits.projection import project_each


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
