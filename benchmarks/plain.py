"""The paper's policies as plain Python for one user, written from its listings.

What `paper_job.py` measures itself against: lobTS projects with scipy's isotonic regression,
the others are loops over arms and states. Rankings are lists of arms, best first.
"""

import math
import random
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import isotonic_regression

Ranking = Sequence[int]
Choose = Callable[[list[int], list[float], int], int]
"""From plays N_a, sums of rewards and the round t to an arm."""


def lobts(rankings: Sequence[Ranking], sigma: float, project_every: int = 1) -> Choose:
    """Algorithm 2: play an arm with the probability of its most likely means."""
    weights: dict[int, float] = {}

    def choose(counts: list[int], sums: list[float], t: int) -> int:
        if (t - 1) % project_every == 0:
            weights.clear()
            weights.update(_likelihoods(rankings, sigma, counts, sums))
        return random.choices(list(weights), list(weights.values()))[0]

    return choose


def _likelihoods(
    rankings: Sequence[Ranking], sigma: float, counts: list[int], sums: list[float]
) -> dict[int, float]:
    losses: dict[int, float] = {}
    for ranking in rankings:
        played = [a for a in ranking if counts[a] > 0]
        loss = 0.0
        if played:
            means = np.array([sums[a] / counts[a] for a in played])
            plays = np.array([counts[a] for a in played])
            fit = isotonic_regression(means, weights=plays, increasing=False).x
            loss = float((plays * (means - fit) ** 2).sum())
        losses[ranking[0]] = min(loss, losses.get(ranking[0], math.inf))
    least = min(losses.values())
    return {a: math.exp((least - loss) / (2 * sigma**2)) for a, loss in losses.items()}


def lobucb(rankings: Sequence[Ranking], sigma: float) -> Choose:
    """Algorithm 1: UCB on the arms that are on top of a feasible state."""

    def choose(counts: list[int], sums: list[float], t: int) -> int:
        lower, upper = [], []
        for plays, total in zip(counts, sums, strict=True):
            radius = sigma * math.sqrt(4 * math.log(t) / plays) if plays else math.inf
            mean = total / plays if plays else 0.0
            lower.append(mean - radius)
            upper.append(mean + radius)
        active = set()
        for ranking in rankings:
            least = math.inf
            for a in ranking:
                least = min(least, upper[a])
                if lower[a] > least:
                    break
            else:
                active.add(ranking[0])
        if not active:
            active = {ranking[0] for ranking in rankings}
        best = max(upper[a] for a in active)
        return random.choice([a for a in active if upper[a] == best])

    return choose


def mts(state_means: Sequence[Sequence[float]], sigma: float) -> Choose:
    """Sample a state from its posterior and play its best arm."""
    best = [max(range(len(means)), key=means.__getitem__) for means in state_means]

    def choose(counts: list[int], sums: list[float], t: int) -> int:
        logs = []
        for means in state_means:
            log = 0.0
            for mean, plays, total in zip(means, counts, sums, strict=True):
                log += (2 * mean * total - plays * mean * mean) / (2 * sigma**2)
            logs.append(log)
        highest = max(logs)
        weights = [math.exp(log - highest) for log in logs]
        return best[random.choices(range(len(weights)), weights)[0]]

    return choose


class MUCB:
    """Believe in a state with the highest mean until its rewards fall too short of it."""

    def __init__(self, state_means: Sequence[Sequence[float]], sigma: float, horizon: int) -> None:
        self.state_means = state_means
        self.best = [max(range(len(means)), key=means.__getitem__) for means in state_means]
        self.width = 6 * sigma**2 * math.log(horizon)
        self.gaps = [0.0] * len(state_means)
        self.visits = [0] * len(state_means)
        self.belief = 0
        self.total = 0.0

    def __call__(self, counts: list[int], sums: list[float], t: int) -> int:
        """Charge the last reward to the state believed then, and choose the next one."""
        if t > 1:
            arm = self.best[self.belief]
            reward, self.total = sum(sums) - self.total, sum(sums)
            self.gaps[self.belief] += self.state_means[self.belief][arm] - reward
            self.visits[self.belief] += 1
        excess = [
            gap - math.sqrt(self.width * visits)
            for gap, visits in zip(self.gaps, self.visits, strict=True)
        ]
        consistent = [s for s, value in enumerate(excess) if value <= 0]
        if consistent:
            top = max(self.state_means[s][self.best[s]] for s in consistent)
            ties = [s for s in consistent if self.state_means[s][self.best[s]] == top]
            most = max(self.visits[s] for s in ties)
            self.belief = random.choice([s for s in ties if self.visits[s] == most])
        else:
            self.belief = min(range(len(excess)), key=excess.__getitem__)
        return self.best[self.belief]


def play(choose: Choose, means: Sequence[float], sigma: float, rounds: int) -> float:
    """Play one user's rounds; return the cumulative regret."""
    counts, sums, regret = [0] * len(means), [0.0] * len(means), 0.0
    for t in range(1, rounds + 1):
        arm = choose(counts, sums, t)
        counts[arm] += 1
        sums[arm] += random.gauss(means[arm], sigma)
        regret += max(means) - means[arm]
    return regret
