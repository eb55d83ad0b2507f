r"""How much arms' features say of their means and loadings.

Of every target of arms (a state's means, a loading), known give or take a variance v_a,

.. math:: t_a = c + b^T y_a + N(0, \tau^2 + v_a), \qquad b \sim N(0, \sigma_b^2 I),

the strength :math:`\sigma_b^2` and what is left, :math:`\tau^2`, are those of the most evidence on
a grid, with c integrated out; the strength is 0 unless that is clear.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.beliefs.arm_effects import ARM, CONTEXT, ArmEffects
from lobandits.beliefs.features import Features, columns_of, text_of
from lobandits.errors import LobInputError
from lobandits.learning.em import Map, Parameters, Pull, Sums, climb, expect_all, maximise
from lobandits.learning.logs import open_table
from lobandits.learning.starts import Data, Population, tastes
from lobandits.orders.contexts import BETWEEN, contexts_of

LEAST = 2.0  # nats over no effect at all
GRID = np.concatenate([[0.0], 4.0 ** np.arange(-6.0, 2.0)])  # of the targets' variance
MOST_COLUMNS = 200  # of contexts and their arms, for these to be looked at unasked
FREE = 1e6  # variance of means that are pulled nowhere
STEPS = 40  # of EM towards what features say


class ArmFeatures(NamedTuple):
    """What is known of the arms of a table, in its order."""

    features: Features
    y: FloatArray  # (k, q)


class Fitted(NamedTuple):
    """One target's regression on arms' features."""

    average: float
    effects: FloatArray  # (q,)
    left: float


def read_arm_features(arms: Sequence[str], table: Any, column: str = "arm") -> ArmFeatures | None:
    """Return what is known of arms: from a table, and where they are in contexts by their names.

    The table has a row for each arm, whose name is in ``column``; or it is a dict of what is known,
    by the names of arms. In contexts it is that of the arms without these. None where nothing is.
    """
    inside = contexts_of(arms)
    contexts = len(inside) > 1 and sum(map(len, inside.values())) == len(arms)
    parts = [name.partition(BETWEEN) for name in arms]
    plain = [part[2] for part in parts] if contexts else list(arms)
    known = {} if table is None else _rows(table, column)
    if known and not set(plain) & set(known):
        raise LobInputError(
            f"arm_features has none of the arms, such as {plain[0]!r}; it has "
            f"{', '.join(list(known)[:3])}"
        )
    names = list(dict.fromkeys(name for row in known.values() for name in row))
    columns: dict[str, list[Any]] = {
        name: [known.get(arm, {}).get(name) for arm in plain] for name in names
    }
    if contexts:
        columns |= {CONTEXT: [part[0] for part in parts], ARM: plain}
    if not columns or (table is None and len(inside) + len(set(plain)) > MOST_COLUMNS):
        return None
    kinds = {CONTEXT: "category", ARM: "category"} if contexts else {}
    features = Features.of(columns, kinds, "arms", least_rows=1, most_values=len(arms))
    return ArmFeatures(features, features.encode(columns))


def _rows(table: Any, column: str) -> dict[str, dict[str, Any]]:
    """Return what a table says of each arm, by its name."""
    if isinstance(table, Mapping) and all(isinstance(row, Mapping) for row in table.values()):
        return {str(arm): dict(row) for arm, row in table.items()}
    if isinstance(table, Mapping) or (hasattr(table, "columns") and not hasattr(table, "execute")):
        columns, _ = columns_of(table)
    else:
        source = open_table(table, [column])
        columns, _ = columns_of(source.fetch(source.table))
    if column not in columns:
        raise LobInputError(
            f"arm_features has no column {column!r} with the names of arms; it has "
            f"{', '.join(columns)}"
        )
    names = [str(text_of(value)) for value in columns.pop(column)]
    return {name: {of: values[i] for of, values in columns.items()} for i, name in enumerate(names)}


def fit_target(target: FloatArray, variance: FloatArray, y: FloatArray) -> Fitted:
    """Return the regression of one target, (k,), on y, (k, q). O(grid k q^2)."""
    spread = max(float(target.var()), 1e-12)
    best, chosen = -np.inf, _given(target, variance, y, 0.0, 0.0)[1]
    alone = -np.inf
    for strength in GRID * spread / max(float((y**2).sum() / len(y)), 1e-12):
        for left in GRID[1:] * spread:
            log, found = _given(target, variance, y, strength, left)
            if strength == 0.0:
                alone = max(alone, log)
            if log > best and (strength == 0.0 or log > alone + LEAST):
                best, chosen = log, found
    return chosen


def _given(
    target: FloatArray, variance: FloatArray, y: FloatArray, strength: float, left: float
) -> tuple[float, Fitted]:
    """Return log evidence and estimates under a strength and what is left."""
    v = variance + max(left, 1e-12)
    q = y.shape[1] if strength > 0 else 0
    columns = np.column_stack([np.ones(len(y)), y[:, :q]])
    prior = np.concatenate([[0.0], np.full(q, 1.0 / strength if strength > 0 else 0.0)])
    normal = (columns / v[:, None]).T @ columns + np.diag(prior)
    right = columns.T @ (target / v)
    solved = np.linalg.solve(normal, right)
    log = -0.5 * (np.log(v).sum() + np.linalg.slogdet(normal)[1] + (target**2 / v).sum())
    log += 0.5 * float(right @ solved) + (0.5 * q * np.log(1.0 / strength) if q else 0.0)
    effects = np.zeros(y.shape[1])
    effects[:q] = solved[1:]
    return float(log), Fitted(float(solved[0]), effects, left)


def towards(known: ArmFeatures, data: Data, everybody: Population, run: Map = map) -> Population:
    """Return the one state of users whose means shrink to what arms' features say.

    Where these tell nothing of the means, it is what it was.
    """
    p, pull = everybody.one, everybody.pull
    blocks = data.blocks
    means, left = _by_cells(p, pull, expect_all(blocks, p, run))
    fitted = fit_target(means[0], left[:, p.loadings.shape[1]], known.y)
    if not fitted.effects.any():
        return everybody
    pull = pull._replace(
        means=(fitted.average + known.y @ fitted.effects)[None],
        mean_variance=max(fitted.left, 1e-12),
    )
    p, pull, _ = climb(blocks, p, pull, STEPS, data.within, run)
    return Population(p, pull, tastes(data, p))


def arm_effects(known: ArmFeatures, p: Parameters, pull: Pull, t: Sums) -> ArmEffects:
    """Return what arms' features say of the final means and loadings."""
    (_, r), m = p.loadings.shape, len(p.means)
    means, left = _by_cells(p, pull, t)
    fits = [fit_target(means[s], left[:, r + s], known.y) for s in range(m)]
    fits += [fit_target(p.loadings[:, j], left[:, j], known.y) for j in range(r)]
    average, effects, rest = zip(*fits, strict=True)
    return ArmEffects(known.features, np.array(average), np.array(effects), np.array(rest))


def _by_cells(p: Parameters, pull: Pull, t: Sums) -> tuple[FloatArray, FloatArray]:
    """Return means (m, k) as cells alone tell them, and variances of coefficients (k, r + m)."""
    free, left = maximise(p, pull._replace(mean_variance=FREE), t, marginal=False)
    return free.means, left
