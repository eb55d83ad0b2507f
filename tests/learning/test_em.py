"""EM: its sums against dense Gaussians, its climb, and what it finds again."""

from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from tests.beliefs.cases import random_clicks, random_prior, random_rewards
from tests.beliefs.reference import cells_of, components_of, mixture

import lobandits as lob
from lobandits.basics.checks import FloatArray
from lobandits.beliefs import Bernoulli, Gaussian, Likelihood, Poisson, Prior
from lobandits.learning.em import (
    Parameters,
    Sums,
    blocks_of,
    climb,
    expect_all,
    maximise,
    penalty,
)
from lobandits.learning.fit_prior import Learned, fit_prior
from lobandits.learning.starts import Data, first_guess


def parameters(prior: Prior) -> Parameters:
    return Parameters(
        prior.shares, prior.means, prior.loadings, prior.own, prior.scales, prior.likelihood
    )


def plain_sums(prior: Prior, counts: FloatArray, sums: FloatArray) -> Sums:
    """The sums over users, from each user's dense posterior of z, t and the arms' own parts."""
    r = prior.loadings.shape[1]
    one = expect_all(blocks_of(counts[:1], sums[:1]), parameters(prior))
    out = Sums._make(map(np.zeros_like, one))
    for n, total in zip(counts, sums, strict=True):
        shares, log, *_ = mixture(components_of(prior), prior.likelihood, n, total)
        out.log[0] += log
        for s, c in enumerate(components_of(prior)):
            cells = cells_of(prior.likelihood, n, total, c)
            a, w = cells.arms, shares[s]
            v = prior.own[a] + cells.variance
            columns = c.columns[a]
            cov = np.linalg.inv(np.eye(r + 1) + columns.T / v @ columns)
            both = cov @ (columns.T / v @ (cells.value - c.mean[a]))
            second = cov + np.outer(both, both)
            e = columns[:, r]
            out.states[s] += w
            out.z[:] += w * both[:r]
            out.square[:] += w * second[:r, :r]
            y = cells.value - both[r] * e
            for i, arm in enumerate(a):
                out.zz[arm] += w / v[i] * second[:r, :r]
                out.zs[arm, s] += w / v[i] * both[:r]
                out.ss[arm, s] += w / v[i]
                out.zy[arm] += w / v[i] * (both[:r] * cells.value[i] - second[:r, r] * e[i])
                out.sy[arm, s] += w / v[i] * y[i]
                away = cells.value[i] - c.mean[arm]
                rest = (away - columns[i] @ both) ** 2 + columns[i] @ cov @ columns[i]
                h = prior.own[arm] / v[i]
                out.own[arm] += w * np.array(
                    [rest / v[i] ** 2, 1 / v[i], 1 / v[i] ** 2, (rest / v[i] - 1) ** 2 / v[i] ** 2]
                )
                out.cells[arm] += w
                out.noise[0] += w * n[arm] * ((1 - h) ** 2 * rest + prior.own[arm] * (1 - h))
                lz = columns[i, :r] @ second[:r, r]
                out.scale[s] += w / v[i] * e[i] * np.array(
                    [both[r] * away - lz, e[i] * second[r, r]]
                )  # fmt: skip
    return out


def test_sums_are_those_of_dense_posteriors() -> None:
    prior = random_prior(3, 5, seed=1)
    counts, sums = random_rewards(6, 5, seed=2)
    mine = expect_all(blocks_of(counts, sums), parameters(prior))
    plain = plain_sums(prior, counts, sums)
    lower = np.tril_indices(2)
    for name, a, b in zip(Sums._fields, mine, plain, strict=True):
        if name == "zz":  # the lower half is all that is made
            a, b = a[:, lower[0], lower[1]], b[:, lower[0], lower[1]]
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9, err_msg=name)


def drawn(kind: Likelihood, n: int, seed: int, k: int = 6) -> tuple[Prior, Data]:
    """Users of one state with two loadings, and eight rewards of each arm."""
    rng = np.random.default_rng(seed)
    prior = random_prior(1, k, seed, likelihood=kind, level=-0.5)
    prior = Prior(prior.arms, np.ones(1), prior.means, prior.loadings, prior.own, np.zeros(1), kind)
    means = prior.draw(n, rng)[1]
    counts, sums = np.full((n, k), 8.0), sum(kind.draw(means, rng) for _ in range(8))
    return prior, Data(counts, np.asarray(sums), None)


@pytest.mark.parametrize("kind", [Gaussian(1.0), Bernoulli(), Poisson()], ids=lambda k: k.name)
def test_the_objective_never_falls(kind: Likelihood) -> None:
    """Where strengths are fixed: they are what the objective is made of."""
    _, data = drawn(kind, 300, seed=3)
    start, pull = first_guess(data, kind)
    _, _, trace = climb(blocks_of(data.counts, data.sums), start, pull, 40, learn_pull=False)
    slack = 1e-9 * abs(trace[-1]) if kind.exact else 0.02 * 300  # cells follow a step behind
    assert len(trace) > 5
    assert (np.diff(trace) >= -slack).all()
    assert trace[-1] > trace[0] + 10.0


def test_a_step_for_coefficients_alone_is_the_best() -> None:
    """Any other loadings or means have a lower expected objective, which the step maximises."""
    prior, data = drawn(Gaussian(1.0), 200, seed=4)
    p, pull = first_guess(data, prior.likelihood)
    blocks = blocks_of(data.counts, data.sums)
    t = expect_all(blocks, p)
    new, _ = maximise(p, pull, t, marginal=False)
    moved = p._replace(means=new.means, loadings=new.loadings)
    before = float(t.log[0]) + penalty(p, pull)
    assert float(expect_all(blocks, moved).log[0]) + penalty(moved, pull) > before


@pytest.mark.parametrize("kind", [Gaussian(1.0), Bernoulli(), Poisson()], ids=lambda k: k.name)
def test_planted_loadings_and_own_variances_come_back(kind: Likelihood) -> None:
    """Up to rotation, within four standard errors of covariances; and a little more, by care."""
    n = 3000
    prior, data = drawn(kind, n, seed=5)
    squares = data.sums if kind.name == "bernoulli" else data.sums**2 + 1
    table = lob.RewardTable(np.arange(n), prior.arms, data.counts, data.sums, squares)
    p = fit_prior(table, kind, n_states=1).prior
    true = prior.loadings @ prior.loadings.T + np.diag(prior.own)
    mine = p.loadings @ p.loadings.T + np.diag(p.own)
    noise = kind.noise(prior.population_mean) / 8 / kind.slope(prior.means[0]) ** 2
    spread = np.diag(true) + noise
    error = 4 * np.sqrt((np.outer(spread, spread) + true**2) / n)
    care = np.diag(0.6 * error.diagonal()) if kind.exact else 0.15 * np.eye(len(true))
    assert (np.abs(mine - true) <= error + care + 0.02 * np.abs(true)).all()
    np.testing.assert_allclose(
        p.means[0], prior.means[0], atol=float(4 * np.sqrt(spread.max() / n)) + 0.05
    )


def test_columns_that_nobody_needs_die() -> None:
    """Two are needed; the personal shift stays, though these loadings have hardly any."""
    prior, data = drawn(Gaussian(0.5), 2000, seed=6, k=30)
    squares = data.sums**2 + 1
    table = lob.RewardTable(np.arange(2000), prior.arms, data.counts, data.sums, squares)
    loadings = fit_prior(table, Gaussian(0.5), n_states=1).prior.loadings
    values = np.linalg.svd(loadings, compute_uv=False) ** 2
    assert loadings.shape[1] <= 4
    assert values[2:].sum() < 0.02 * values.sum()


def test_planted_states_shares_scales_and_noise_come_back() -> None:
    rng = np.random.default_rng(7)
    means = np.array([[4.0, 2.0, 0.0, -2.0, -4.0], [-3.0, 0.0, 3.0, 0.0, 3.0]])
    level, own = np.full((5, 1), 0.5), np.full(5, 0.1)
    shares, scales = np.array([0.7, 0.3]), np.full(2, 0.3)
    prior = Prior(tuple("abcde"), shares, means, level, own, scales, Gaussian(1.5))
    n = 2000
    states, rewarded = prior.draw(n, rng)
    values = rewarded[:, None] + 1.5 * rng.standard_normal((n, 6, 5))
    counts = np.full((n, 5), 6)
    table = lob.RewardTable(
        np.arange(n), prior.arms, counts, values.sum(axis=1), (values**2).sum(axis=1)
    )
    learned = fit_prior(table, n_states=2)
    p = learned.prior
    order = np.argsort(-p.shares)
    np.testing.assert_allclose(p.shares[order], prior.shares, atol=4 * np.sqrt(0.21 / n))
    error = 4 * np.sqrt(np.array([[2.0], [2.0]]) / (prior.shares[:, None] * n)) + 0.02
    assert (np.abs(p.means[order] - means) <= error).all()
    np.testing.assert_allclose(p.scales[order], prior.scales, atol=0.05)
    assert p.sigma == pytest.approx(1.5, abs=4 * 1.5 / np.sqrt(2 * n * 25))
    assert (learned.labels == order[states]).mean() > 0.97


@contextmanager
def dask() -> Iterator[Executor]:
    distributed = pytest.importorskip("distributed")
    options: Any = {"dashboard_address": None, "processes": False}
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make",
    [lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(2), dask],
    ids=["threads", "processes", "dask"],
)
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
def test_who_sums_up_blocks_changes_no_bit(make: Any, kind: str) -> None:
    """Three blocks of users; whoever works on them, they are added in order."""
    counts, sums = random_clicks(2500, 4, 0.4, 3, seed=8)
    counts[:, 0] = np.maximum(counts[:, 0], 1)
    sums = np.minimum(sums, counts)
    table = lob.RewardTable(np.arange(2500), tuple("abcd"), counts, sums, sums)

    def learn(**options: Any) -> Learned:
        return fit_prior(table, kind, n_states=2, **options)

    with make() as executor:
        there = learn(executor=executor)
    here = learn(workers=1)
    assert there.prior == here.prior
    assert there.labels.tobytes() == here.labels.tobytes()
    assert there.trace == here.trace


def test_permuting_arms_and_users_permutes_the_prior() -> None:
    _, data = drawn(Gaussian(1.0), 400, seed=9)
    order, users = np.random.default_rng(0).permutation(6), np.arange(400)[::-1]
    names = tuple("abcdef")
    table = lob.RewardTable(np.arange(400), names, data.counts, data.sums, data.sums**2 + 1)
    mixed = lob.RewardTable(
        np.arange(400), names, data.counts, data.sums[users][:, order],
        (data.sums**2 + 1)[users][:, order],
    )  # fmt: skip
    a, b = (fit_prior(t, Gaussian(1.0), n_states=1).prior for t in (table, mixed))
    np.testing.assert_allclose(b.means[0], a.means[0, order], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(b.own, a.own[order], rtol=0.02)


def test_adding_a_constant_shifts_means_alone() -> None:
    _, data = drawn(Gaussian(1.0), 400, seed=10)
    tables = [
        lob.RewardTable(np.arange(400), tuple("abcdef"), data.counts, sums, sums**2 + 1)
        for sums in (data.sums, data.sums + 100.0 * data.counts)
    ]
    a, b = (fit_prior(table, Gaussian(1.0), n_states=1).prior for table in tables)
    np.testing.assert_allclose(b.means, a.means + 100.0, atol=1e-3)
    np.testing.assert_allclose(b.own, a.own, rtol=0.01)


def test_clicks_that_always_repeat_themselves_are_learned() -> None:
    """Each user answers an arm the same way, thirty times: mean rewards are nearly 0 and 1."""
    rng = np.random.default_rng(5)
    taste = (rng.random((200, 6)) < rng.choice([0.02, 0.3, 0.9])).astype(float)
    counts = np.full(taste.shape, 30)
    table = lob.RewardTable(np.arange(200), tuple("abcdef"), counts, 30 * taste, 30 * taste)
    prior = fit_prior(table, n_states=1).prior
    assert np.isfinite(prior.means).all()
    assert ((prior.population_mean > 0) & (prior.population_mean < 0.5)).all()
