"""Users whom features tell of, whose tastes the tests know."""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.beliefs.features import Features
from lobandits.learning import RewardTable
from lobandits.learning.user_features import UserFeatures


class World(NamedTuple):
    """Users whose tastes features move: eta = m + L (W x + z) + B x + eps."""

    table: RewardTable
    x: FloatArray  # (n, p)
    columns: FloatArray  # (k, p): L W + B
    means: FloatArray  # (n, k): mean rewards


def world(
    n: int, k: int, p: int, share: float, seed: int, clicks: bool = False, plays: int = 20
) -> World:
    """Plant features that explain a share of what users differ by; half of it in single arms."""
    rng = np.random.default_rng(seed)
    loadings, own, ratio = rng.normal(0, 0.6, (k, 2)), 0.15, share / (1 - share) / p
    loadings[:, 0] = 0.5
    columns = loadings @ rng.normal(0, np.sqrt(ratio), (2, p))
    columns += rng.normal(0, np.sqrt(own * ratio), (k, p))
    x, base = rng.standard_normal((n, p)), rng.normal(-1 if clicks else 0, 0.5, k)
    eta = base + x @ columns.T + rng.standard_normal((n, 2)) @ loadings.T
    eta += np.sqrt(own) * rng.standard_normal((n, k))
    means = 1 / (1 + np.exp(-eta)) if clicks else eta
    arms = rng.integers(k, size=(n, plays))
    mean = np.take_along_axis(means, arms, axis=1)
    noisy = mean + rng.standard_normal(mean.shape)
    rewards = (rng.random(mean.shape) < mean).astype(float) if clicks else noisy
    cells = np.zeros((3, n, k))
    for total, part in zip(cells, (np.ones(mean.shape), rewards, rewards**2), strict=True):
        np.add.at(total, (np.arange(n)[:, None], arms), part)
    names = tuple(f"arm {a}" for a in range(k))
    return World(RewardTable(np.arange(n), names, *cells), x, columns, means)


def known(x: FloatArray) -> UserFeatures:
    """Return columns of numbers as features."""
    table = {f"f{j}": x[:, j] for j in range(x.shape[1])}
    features = Features.of(table)
    return UserFeatures(features, features.encode(table))
