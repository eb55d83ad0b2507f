"""Plain twins of the clustering, with loops that a reader can check by eye."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def kendall_distance(means: Floats, ranking: Ints) -> float:
    """Share of the user's pairs that the order ranks oppositely; a tie counts half."""
    place = {int(arm): i for i, arm in enumerate(ranking)}
    costs = []
    for a, b in combinations(range(len(means)), 2):
        if np.isnan(means[a]) or np.isnan(means[b]):
            continue
        if means[a] == means[b]:
            costs.append(0.5)
        else:
            costs.append(float((means[a] > means[b]) != (place[a] < place[b])))
    return float(np.mean(costs)) if costs else 0.5


def impute(means: Floats) -> Floats:
    """Fill a missing mean with the user's average plus the arm's offset."""
    n, k = means.shape
    typical = [float(np.mean([x for x in row if not np.isnan(x)])) for row in means]
    filled = means.copy()
    for a in range(k):
        known = [means[u, a] - typical[u] for u in range(n) if not np.isnan(means[u, a])]
        for u in range(n):
            if np.isnan(means[u, a]):
                filled[u, a] = typical[u] + float(np.mean(known))
    return filled


def assign(means: Floats, rankings: Ints) -> list[int]:
    """Nearest order of each user, the first of equals."""
    return [
        int(np.argmin([round(kendall_distance(row, ranking), 12) for ranking in rankings]))
        for row in means
    ]


def excess(means: Floats, ranking: Ints) -> float:
    """Distance above that to the user's own order."""
    own = np.argsort(-np.where(np.isnan(means), -np.inf, means), kind="stable")
    return round(kendall_distance(means, ranking) - kendall_distance(means, own), 12)


def plus_plus(means: Floats, n_states: int, rng: np.random.Generator) -> list[int]:
    """Greedy k-means++: of a few users drawn by their excess, the one that lowers the sum most."""
    filled = impute(means)
    seeds = [int(rng.integers(len(means)))]
    while len(seeds) < n_states:
        orders = np.argsort(-filled, axis=1, kind="stable")
        far = [min(excess(row, orders[s]) for s in seeds) for row in means]
        if sum(far) == 0:
            break
        sums = []
        for luck in rng.random(2 + int(np.log(n_states))):
            user = next(u for u in range(len(far)) if sum(far[: u + 1]) > luck * sum(far))
            left = [min(f, excess(row, orders[user])) for f, row in zip(far, means, strict=True)]
            sums.append((round(sum(left), 9), user))
        seeds.append(min(sums, key=lambda pair: pair[0])[1])
    return seeds


def lloyd(means: Floats, seeds: Ints, max_iter: int) -> tuple[float, list[list[int]]]:
    """k-means with averages for centres; the least mean distance of any iterate, and its orders."""
    filled = impute(means)
    rankings = np.argsort(-filled[seeds], axis=1, kind="stable")
    best = (np.inf, rankings.tolist())
    for _ in range(max_iter + 1):
        labels = assign(means, rankings)
        users = list(zip(means, labels, strict=True))
        inertia = float(np.mean([kendall_distance(row, rankings[s]) for row, s in users]))
        if inertia < best[0] - 1e-12:
            best = (inertia, rankings.tolist())
        far = [excess(row, rankings[s]) for row, s in users]
        farthest = sorted(range(len(means)), key=lambda u: -far[u])
        centers = []
        for s in range(len(seeds)):
            members = [u for u in range(len(means)) if labels[u] == s] or [farthest.pop(0)]
            centers.append(filled[members].mean(axis=0))
        rankings = np.argsort(-np.stack(centers), axis=1, kind="stable")
    return best
