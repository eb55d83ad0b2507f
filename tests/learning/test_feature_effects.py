"""W and B: what was planted comes back, noise is 0, and nothing depends on how x is written."""

from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest
from tests.learning.planted import World, known, world

from lobandits.beliefs import Bernoulli, Gaussian, Prior
from lobandits.beliefs.features import Features
from lobandits.learning.em import blocks_of
from lobandits.learning.feature_effects import fit_effects, score_all
from lobandits.learning.fit_prior import fit_prior
from lobandits.learning.starts import Data, population
from lobandits.learning.user_features import UserFeatures


def learned(w: World, features: UserFeatures | None, **options: Any) -> Prior:
    likelihood = "bernoulli" if w.means.min() >= 0 and w.means.max() <= 1 else Gaussian(1.0)
    return fit_prior(w.table, likelihood, 1, features=features, **options).prior


def by_column(prior: Prior) -> Any:
    """L W + B in units of x: a standardised number is x times its spread."""
    assert prior.features is not None
    scale = [f.scale[0] for f in prior.features.features.all]
    return prior.features.by_column(prior.loadings) / np.array(scale)


@pytest.mark.parametrize("clicks", [False, True])
def test_planted_effects_come_back(clicks: bool) -> None:
    """Every effect has an error of about sqrt(1 / information): so have all of them together."""
    w = world(1500, 8, 4, 0.3, seed=2, clicks=clicks, plays=30)
    prior = learned(w, known(w.x))
    assert prior.features is not None
    assert prior.features.shared.any()
    error = by_column(prior) - w.columns
    size = (w.columns**2).mean()
    assert (error**2).mean() < (0.15 if clicks else 0.05) * size
    assert prior.features.gain > 4 * prior.features.error


def test_effects_on_single_arms_are_found_where_loadings_have_none() -> None:
    w = world(1500, 8, 3, 0.0, seed=4, plays=30)
    x = np.random.default_rng(0).standard_normal((1500, 3))
    counts, lift = w.table.counts, 0.6 * x[:, 1]
    sums = w.table.sums.copy()
    sums[:, 5] += counts[:, 5] * lift
    squares = w.table.squares + (2 * w.table.sums * lift[:, None] + counts * lift[:, None] ** 2) * (
        np.arange(8) == 5
    )
    table = type(w.table)(w.table.users, w.table.arms, counts, sums, squares)
    prior = fit_prior(table, Gaussian(1.0), 1, features=known(x)).prior
    found = by_column(prior)
    assert found[5, 1] == pytest.approx(0.6, abs=0.12)
    assert np.abs(np.delete(found, 5, axis=0)).max() < 0.15


def test_noise_has_no_effects_in_95_of_100_logs() -> None:
    silent, kind = 0, Gaussian(1.0)
    for seed in range(100):
        w = world(150, 6, 5, 0.0, seed)
        data = Data(w.table.counts, w.table.sums, None)
        p = population(data, kind).one
        silent += not fit_effects(data.blocks, w.x, p).tell
    assert silent >= 95


def test_useless_features_leave_the_prior_as_it_was() -> None:
    w = world(200, 6, 3, 0.0, seed=8)
    with_them = learned(w, known(w.x))
    assert with_them.features is not None
    assert not with_them.features.tell
    assert with_them._with(features=None) == learned(w, None)


def test_units_names_and_places_of_columns_change_nothing() -> None:
    w = world(300, 6, 2, 0.3, seed=1)
    kinds = np.where(w.x[:, 1] > 0, "a", "b").tolist()

    def lifts(table: dict[str, Any]) -> Any:
        features = Features.of(table)
        prior = learned(w, UserFeatures(features, features.encode(table)))
        assert prior.features is not None
        assert prior.features.tell
        return prior.lifts(table)

    one = lifts({"f": w.x[:, 0], "g": kinds})
    other = lifts({"h": [f"kind {v}" for v in kinds], "f": 3.0 * w.x[:, 0] - 7.0})
    np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.plain
def test_scores_are_those_of_the_dense_gaussian() -> None:
    """E z = L' V^-1 r, I - Q^-1 = L' V^-1 L, and V^-1 r and its diagonal, written out."""
    w = world(30, 5, 2, 0.2, seed=0)
    data = Data(w.table.counts, w.table.sums, None)
    p = population(data, Gaussian(1.0)).one._replace(scales=np.array([0.3]))
    lifts = w.x @ w.columns.T
    blocks = blocks_of(data.counts, data.sums, lifts)
    t = score_all(blocks, p)
    total, first = np.zeros_like(t.information), 0
    away = p.means[0] - p.means[0].mean()
    both = np.column_stack([p.loadings, 0.3 * away])
    for u in range(30):
        arms = np.flatnonzero(data.counts[u])
        n = data.counts[u, arms]
        v = both[arms] @ both[arms].T + np.diag(p.own[arms] + 1.0 / n)
        r = data.sums[u, arms] / n - p.means[0, arms] - lifts[u, arms]
        inverse, own = np.linalg.inv(v), p.loadings[arms]
        last = first + len(arms)
        np.testing.assert_allclose(t.z[u], own.T @ inverse @ r, atol=1e-9)
        np.testing.assert_allclose(t.cell[first:last], inverse @ r, atol=1e-9)
        np.testing.assert_allclose(t.precision[first:last], np.diag(inverse), atol=1e-9)
        total += own.T @ inverse @ own
        first = last
    np.testing.assert_allclose(t.information, total, atol=1e-8)


def test_processes_give_the_same_bits() -> None:
    w = world(1200, 5, 2, 0.3, seed=5, clicks=True, plays=10)
    here = learned(w, known(w.x), workers=1)
    assert learned(w, known(w.x), workers=2) == here
    with ProcessPoolExecutor(1) as pool:
        assert learned(w, known(w.x), executor=pool) == here


def test_states_are_looked_for_in_what_features_leave() -> None:
    """Two groups that a feature tells apart: without it two states, with it one."""
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=400)
    means = np.where(group[:, None], [3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0])
    counts = np.full(means.shape, 5)
    cells = means[..., None] + rng.standard_normal((*means.shape, 5))
    from lobandits.learning import RewardTable

    table = RewardTable(np.arange(400), tuple("abcd"), counts, cells.sum(2), (cells**2).sum(2))
    columns = {"group": [f"g{g}" for g in group]}
    features = Features.of(columns)
    told = fit_prior(table, features=UserFeatures(features, features.encode(columns))).prior
    assert fit_prior(table).prior.n_states > 1
    assert told.n_states == 1
    first = told.posterior(np.zeros((2, 4)), np.zeros((2, 4)), {"group": ["g1", "g0"]})[1]
    np.testing.assert_allclose(first, [[3, 2, 1, 0], [0, 1, 2, 3]], atol=0.25)


def test_the_worth_of_features_is_that_to_users_who_taught_nothing() -> None:
    w = world(2000, 6, 3, 0.4, seed=3, clicks=True)
    table, rest = w.table.take(np.arange(1000)), w.table.take(np.arange(1000, 2000))
    features = known(w.x)
    with_them = fit_prior(table, Bernoulli(), 1, features=features.take(slice(1000))).prior
    without = fit_prior(table, Bernoulli(), 1).prior
    counts, lifts = rest.counts.astype(float), with_them.lifts(features.x[1000:])
    gains = with_them.log_evidence(counts, rest.sums, lifts) - without.log_evidence(
        counts, rest.sums
    )
    error = gains.std() / np.sqrt(1000)
    assert gains.mean() > 4 * error
    effects = with_them.features
    assert effects is not None
    assert effects.gain == pytest.approx(gains.mean(), abs=4 * np.hypot(error, effects.error))
