"""EM against a plain NumPy twin, and its promise: every step raises the penalised evidence."""

import numpy as np
import pytest

from lobandits._checks import FloatArray, IntArray
from lobandits.learning.mixture import (
    Parameters,
    Penalty,
    Told,
    climb,
    expect,
    log_evidence,
    log_penalty,
    nothing_told,
    tell,
)
from lobandits.priors.posterior import posterior_of_users


def random_parameters(m: int, k: int, rng: np.random.Generator) -> Parameters:
    root = rng.standard_normal((k, k))
    spread = 0.1 * root @ root.T + 0.2 * np.eye(k)
    means = rng.normal(3.0, 1.0, (m, k))
    return Parameters(rng.dirichlet(np.ones(m)), means, spread, 0.6, np.full(m, 0.3), 0.8)


def random_table(n: int, k: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    counts = rng.poisson(1.2, (n, k))
    counts[:, 0] += 1
    return counts, counts * rng.normal(3.0, 1.2, (n, k))


def plain_expect(counts: IntArray, sums: FloatArray, p: Parameters) -> Told:
    """The sums from joint Gaussians of (y, e, z), state by state and user by user."""
    m, k = p.means.shape
    told = nothing_told(m, k)
    shared = p.spread + p.shift**2
    for n, total in zip(counts, sums, strict=True):
        seen = n > 0
        y, parts, logs = total[seen] / n[seen], [], []
        for s in range(m):
            d = p.means[s] - p.means[s].mean()
            joint = np.block([
                [shared, np.zeros((k, 1))],
                [np.zeros((1, k)), np.full((1, 1), p.scales[s] ** 2)],
            ])  # fmt: skip
            see = np.hstack([np.eye(k)[seen], d[seen, None]])
            var = see @ joint @ see.T + np.diag(p.sigma**2 / n[seen])
            miss = y - p.means[s, seen]
            gain = joint @ see.T @ np.linalg.inv(var)
            parts.append((gain @ miss, joint - gain @ see @ joint, d))
            logs.append(np.log(p.shares[s]) - 0.5 * (miss @ np.linalg.solve(var, miss)
                        + np.linalg.slogdet(2 * np.pi * var)[1]))  # fmt: skip
        evidence = np.logaddexp.reduce(logs)
        told.totals[0] += evidence
        for s, (mean, cov, d) in enumerate(parts):
            r = np.exp(logs[s] - evidence)
            second = np.outer(mean, mean) + cov
            told.state[s] += r
            told.scale[s] += r * mean[k]
            told.square[s] += r * second[k, k]
            told.rest[s] += r * mean[:k]
            told.scaled[s] += r * second[:k, k]
            told.outer[...] += r * second[:k, :k]
            to_mu = np.hstack([np.eye(k), d[:, None]])
            mu, var = p.means[s] + to_mu @ mean, np.diag(to_mu @ cov @ to_mu.T)
            told.totals[1] += r * (n[seen] * ((y - mu[seen]) ** 2 + var[seen])).sum()
    return told


def test_expectations_are_those_of_the_twin() -> None:
    rng = np.random.default_rng(0)
    p = random_parameters(3, 4, rng)
    counts, sums = random_table(15, 4, rng)
    mine, twin = expect(counts, sums, p), plain_expect(counts, sums, p)
    symmetric = mine._replace(outer=mine.outer + np.tril(mine.outer, -1).T)
    for name in Told._fields:
        got, wanted = getattr(symmetric, name), getattr(twin, name)
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6, err_msg=name)
    assert log_evidence(counts, sums, p).sum() == pytest.approx(twin.totals[0])


@pytest.mark.parametrize("seed", range(3))
def test_every_step_raises_the_penalised_evidence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = random_parameters(3, 5, rng)
    counts, sums = random_table(60, 5, rng)
    penalty = Penalty(p.means.mean(axis=0), np.eye(5), np.full(5, 0.5))
    end, trace = climb(counts, sums, p, penalty, 40, None)
    assert np.diff(trace).min() > -1e-6
    assert trace[-1] > trace[0] + 1
    noisy, trace = climb(counts, sums, p, penalty, 40, (30.0, counts.sum() + 60.0))
    assert np.diff(trace).min() > -1e-6
    assert noisy.sigma != end.sigma == p.sigma


def test_the_penalty_prefers_a_diagonal() -> None:
    rng = np.random.default_rng(1)
    p = random_parameters(1, 4, rng)
    penalty = Penalty(p.means[0], np.eye(4), np.ones(4), population=0.0)
    diagonal = p._replace(spread=np.diag(1 / np.diag(np.linalg.inv(p.spread))))
    assert log_penalty(diagonal, penalty) > log_penalty(p, penalty)


def test_sums_do_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(2)
    p = random_parameters(2, 3, rng)
    counts, sums = random_table(3000, 3, rng)
    one, many = expect(counts, sums, p, workers=1), expect(counts, sums, p, workers=3)
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(a, b)


def test_read_only_tables_compile_nothing_anew() -> None:
    counts, sums = np.ones((4, 2), np.int64), np.ones((4, 2))
    p = Parameters(np.ones(1), np.zeros((1, 2)), np.eye(2), 1.0, np.full(1, 0.3), 1.0)
    told, log = expect(counts, sums, p), log_evidence(counts, sums, p)
    kinds = [list(getattr(kernel, "signatures", ())) for kernel in (tell, posterior_of_users)]
    for array in counts, sums:
        array.setflags(write=False)
    for mine, theirs in zip(expect(counts, sums, p), told, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(log_evidence(counts, sums, p), log)
    again = [list(getattr(kernel, "signatures", ())) for kernel in (tell, posterior_of_users)]
    assert again == kinds
