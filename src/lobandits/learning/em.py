r"""EM for the factor prior, on the cells that exist: nothing is imputed.

A user of state s has the tastes :math:`\eta_a = m_{sa} + L_a^T z + t \rho_s \delta_{sa} +
\varepsilon_a` with :math:`\delta_s = m_s - \bar m_s` (see `Prior`), and each cell counts with its
own variance. `expect` sums what users tell, given the parameters; `maximise` solves for new ones:
per arm, the weighted least squares of the cells' values on z and the state,

.. math:: \sum_{u, s} \frac{p_{us}}{v_{ua}} E \begin{pmatrix} z z^T & z 1_s^T \\ 1_s z^T & 1_s 1_s^T
          \end{pmatrix} \begin{pmatrix} L_a \\ m_a \end{pmatrix} = \sum_{u, s} \frac{p_{us}}{v_{ua}}
          E \begin{pmatrix} z \\ 1_s \end{pmatrix} (\mathrm{value}_{ua} - t \rho_s \delta_{sa}),

with :math:`v_{ua} = d_a +` the cell's variance. The parameters maximise the evidence of all users
plus the log densities of

* :math:`L_{aj} \sim N(c_j, \tau_j^2)`, where c is 0 but for the first column, the personal shift,
  which shrinks to its own average: columns that nobody needs die by themselves;
* :math:`m_{sa} \sim N(m^0_{sa}, \tau_m^2)`: means of few users stay with the population's;
* :math:`d_a \sim N(\bar d, \tau_d^2)`, and rho as if some users more had told a usual one.

How strong these are (`Pull`) is itself learned: a spread is the mean square *plus the variance
that is left* (the diagonal of the inverse normal equations), without which few users' means
collapse onto one number, and columns die that should live. Sums over users are made block by block
and added in order: they are the same on any number of threads, processes or machines.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.basics.kernel import kernel
from lobandits.beliefs.cells import (
    Rewards,
    beliefs,
    first_cells,
    next_cells,
    settle,
    with_rest,
)
from lobandits.beliefs.gaussian import Gaussian
from lobandits.beliefs.likelihood import FAR, Likelihood
from lobandits.beliefs.posterior import (
    Cells,
    Components,
    condition,
    dot,
    forward,
    gather,
    make_memory,
    weigh,
)

BLOCK = 1024  # users summed up together
UNLIKELY = 1e-5  # states of less weight for a user tell nothing of the state
TOLERANCE, MOVED = 3e-4, 0.05  # of the objective per user, and of variances, to go on
USUAL_SCALE, SCALE_USERS = 0.3, 4.0  # what users are thought to differ by in scale, and how many
LEAST_SCALE = 1e-3  # so that a scale can grow again
LEAST_OWN = 0.1  # of the usual own variance, that every arm has
USUALLY = 0.5  # of the usual own variance, by which arms differ at least
SLOWER = 0.1  # per step of EM, are steps of own variances
CAREFUL, BY_ARM = 3.0, 2.0  # standard errors of all arms' own variances, and of each arm's
SHARE_USERS = 1.0  # users of each state that are thought of
DEAD = 1e-3  # of the largest column's mean square plus the own variance: a column to leave out
CHECK = 5  # steps from one look at whether to go on to the next
Map = Callable[..., Iterable[Any]]


class Parameters(NamedTuple):
    """The prior as EM sees it."""

    shares: FloatArray  # (m,)
    means: FloatArray  # (m, k)
    loadings: FloatArray  # (k, r)
    own: FloatArray  # (k,)
    scales: FloatArray  # (m,)
    likelihood: Likelihood

    @property
    def components(self) -> Components:
        """The parameters as kernels read them."""
        away = self.means - self.means.mean(axis=1, keepdims=True)
        direction = (self.scales[:, None] * away)[None, :, :, None]
        own = np.broadcast_to(self.own, (1, *self.means.shape)).copy()
        log_shares = np.log(self.shares)[None]
        return Components(log_shares, self.means[None], direction, self.loadings, own, np.ones(1))


class Pull(NamedTuple):
    """What the parameters are drawn to, and how strongly: variances of their prior densities."""

    means: FloatArray  # (m, k) or (1, k): m0
    mean_variance: float
    shift: float  # the centre of the first column
    column_variance: FloatArray  # (r,)
    own: float  # the usual own variance
    own_variance: float  # of arms' own variances around it
    scale_precision: float  # of a scale around the usual one
    rate: float = 0.5  # of a step of own variances: less and less, as cells follow a step behind

    def precision(self, n_states: int) -> FloatArray:
        """Return those of an arm's coefficients: of its loadings, then of its means, (r + m,)."""
        return np.append(1.0 / self.column_variance, np.full(n_states, 1.0 / self.mean_variance))

    def told(self, left: FloatArray) -> FloatArray:
        """Return how many of an arm's coefficients its cells tell, where so much is left, (k,)."""
        r = len(self.column_variance)
        known: FloatArray = (1.0 - left * self.precision(left.shape[1] - r)).sum(axis=1)
        return known


class Sums(NamedTuple):
    """Sums over users of what they tell, in expectation; r loadings, m states."""

    states: FloatArray  # (m,): users
    zz: FloatArray  # (k, r, r): E z z' / v
    zs: FloatArray  # (k, m, r): E z / v
    ss: FloatArray  # (k, m): 1 / v
    zy: FloatArray  # (k, r): E z (value - t E) / v
    sy: FloatArray  # (k, m)
    own: FloatArray  # (k, 4): E (value - f)^2 / v^2, 1 / v, 1 / v^2, the square of the first two's
    cells: FloatArray  # (k,): cells
    z: FloatArray  # (r,): E z
    square: FloatArray  # (r, r): E z z'
    scale: FloatArray  # (m, 2): E t delta (value - m - Lz) / v, E t^2 delta^2 / v
    noise: FloatArray  # (1,): E n (y - eta)^2
    log: FloatArray  # (1,): log evidence

    def plus(self, other: "Sums") -> "Sums":
        """Return both sums together."""
        return Sums._make(a + b for a, b in zip(self, other, strict=True))


class Users:
    """The rewards of some users, and the cells that they are believed to be.

    Cells of a likelihood that is not exact follow what is believed of users: one round for each
    step of EM, so that both settle together.
    """

    def __init__(
        self, counts: FloatArray | IntArray, sums: FloatArray, lifts: FloatArray | None = None
    ) -> None:
        self.rewards = Rewards(counts, sums, lifts)
        self.n_users = len(counts)
        self.cells: Cells | None = None

    def lift(self, lifts: FloatArray) -> None:
        """Let features add other lifts, (n, k), to tastes; cells stay what they are believed."""
        rewards, before = self.rewards, self.rewards.lift
        users = np.repeat(np.arange(self.n_users), np.diff(rewards.start))
        rewards.lifts, rewards.lift = lifts, lifts[users, rewards.arm]
        if self.cells is not None:
            value = self.cells.value + before - rewards.lift
            self.cells = self.cells._replace(value=value, lift=lifts)

    def expect(self, p: Parameters) -> Sums:
        """Return the sums over these users."""
        return expect(self.believed(p), self.rewards.counts, p.components)

    def believed(self, p: Parameters) -> Cells:
        """Return the cells under these parameters."""
        c, given, rewards = p.components, p.likelihood, self.rewards
        if given.exact:
            return first_cells(rewards, given)
        cells = self.cells
        if cells is None or len(cells.value) not in (1, len(p.means)):
            cells = settle(rewards, given, c)
        belief = beliefs(cells, rewards, c)
        cells = with_rest(cells, rewards, given, belief)
        self.cells = next_cells(cells, rewards, given, belief)
        return cells


def blocks_of(
    counts: FloatArray | IntArray, sums: FloatArray, lifts: FloatArray | None = None
) -> list[Users]:
    """Return users in blocks, the same whoever works on them."""
    some = [slice(first, first + BLOCK) for first in range(0, len(counts), BLOCK)]
    return [Users(counts[b], sums[b], None if lifts is None else lifts[b]) for b in some]


def expect_all(blocks: list[Users], p: Parameters, run: Map = map) -> Sums:
    """Return the sums over all users, added up block after block."""
    parts = list(run(_expect_block, blocks, [p] * len(blocks)))
    for block, (_, cells) in zip(blocks, parts, strict=True):
        block.cells = cells  # another process has made them
    total: Sums = parts[0][0]
    for part, _ in parts[1:]:
        total = total.plus(part)
    return total


def _expect_block(block: Users, p: Parameters) -> tuple[Sums, Cells | None]:
    sums = block.expect(p)
    return sums, None if p.likelihood.exact else block.cells


def expect(cells: Cells, counts: FloatArray, c: Components) -> Sums:
    """Return what users tell of the parameters."""
    m, k = c.mean.shape[1:]
    r = c.loading.shape[1]
    shapes = (
        (m,), (k, r, r), (k, m, r), (k, m), (k, r), (k, m), (k, 4), (k,), (r,), (r, r), (m, 2),
        (1,), (1,),
    )  # fmt: skip
    sums = Sums._make(np.zeros(shape) for shape in shapes)
    add_users(cells, counts, c, sums)
    return sums


@kernel
def add_users(x: Cells, counts: FloatArray, c: Components, out: Sums) -> None:
    """Add what users tell. O(cells m r^2 + m r^3) for each; states without weight cost less."""
    m, r, p = c.mean.shape[1], c.loading.shape[1], make_memory(c)
    share, column = np.empty(m), np.empty(r + 1)
    cov = np.empty((r + 1, r + 1))
    for u in range(len(x.start) - 1):
        condition(u, x, c, p)
        out.log[0] += weigh(p.log, share)
        for s in range(m):
            if share[s] < UNLIKELY:
                continue
            invert(p.lower[s], cov)
            z, t = p.centre[s], p.centre[s, r]
            out.states[s] += share[s]
            for i in range(r):
                out.z[i] += share[s] * z[i]
                for h in range(r):
                    out.square[i, h] += share[s] * (z[i] * z[h] + cov[i, h])
            row = s if len(x.value) > 1 else 0
            for i in range(x.start[u], x.start[u + 1]):
                a = x.arm[i]
                v = c.own[0, s, a] + x.variance[row, i]
                w = share[s] / v
                gather(0, s, a, 1.0, c, column)
                e, away = column[r], x.value[row, i] - c.mean[0, s, a]
                y = x.value[row, i] - t * e
                for b in range(r):
                    for h in range(b + 1):
                        out.zz[a, b, h] += w * (z[b] * z[h] + cov[b, h])
                    out.zs[a, s, b] += w * z[b]
                    out.zy[a, b] += w * (z[b] * y - cov[b, r] * e)
                out.ss[a, s] += w
                out.sy[a, s] += w * y
                lz = dot(column[:r], z[:r])
                both = 0.0
                for b in range(r):
                    both += column[b] * cov[b, r]
                out.scale[s, 0] += w * e * (t * (away - lz) - both)
                out.scale[s, 1] += w * e * e * (t * t + cov[r, r])
                rest = (away - lz - t * e) ** 2
                p.row[:] = column
                rest += forward(p.lower[s], p.row)
                out.own[a, 0] += w / v * rest
                out.own[a, 1] += w
                out.own[a, 2] += w / v
                out.own[a, 3] += w / v * (rest / v - 1.0) ** 2
                out.cells[a] += share[s]
                h2 = c.own[0, s, a] / v
                eta = (1.0 - h2) ** 2 * rest + c.own[0, s, a] * (1.0 - h2)
                out.noise[0] += share[s] * counts[i] * eta


@kernel
def invert(lower: FloatArray, out: FloatArray) -> None:
    """Write Q^-1 of Q = lower lower'. O(R^3)."""
    size = len(out)
    for j in range(size):
        for i in range(size):
            out[i, j] = 1.0 if i == j else 0.0
        for i in range(j, size):
            for h in range(j, i):
                out[i, j] -= lower[i, h] * out[h, j]
            out[i, j] /= lower[i, i]
        for i in range(size - 1, -1, -1):
            out[i, j] /= lower[i, i]
            for h in range(i):
                out[h, j] -= lower[i, h] * out[i, j]


def maximise(
    p: Parameters,
    pull: Pull,
    t: Sums,
    within: tuple[float, float] | None = None,
    marginal: bool = True,
) -> tuple[Parameters, FloatArray]:
    """Return new parameters, and the variances that are left of each arm's coefficients.

    These, (k, r + m), are the diagonal of the inverse normal equations. ``within`` are the squares
    within cells and the number of rewards, where sigma is to be learned. ``marginal`` own
    variances are those of an arm whose coefficients are not known but as these variances tell.
    """
    (k, r), m = p.loadings.shape, len(p.means)
    normal = np.zeros((k, r + m, r + m))
    zz = t.zz + np.swapaxes(np.tril(t.zz, -1), 1, 2)
    normal[:, :r, :r], normal[:, r:, :r] = zz, t.zs
    normal[:, :r, r:] = np.swapaxes(t.zs, 1, 2)
    diagonal = np.arange(r, r + m)
    normal[:, diagonal, diagonal] = t.ss
    prior = pull.precision(m)
    normal[:, np.arange(r + m), np.arange(r + m)] += prior
    centre = np.zeros((k, r + m))
    centre[:, 0], centre[:, r:] = pull.shift, np.broadcast_to(pull.means, (m, k)).T
    right = np.concatenate([t.zy, t.sy], axis=1) + prior * centre
    inverse = np.linalg.inv(normal)
    left = np.diagonal(inverse, axis1=1, axis2=2)
    solved = np.einsum("kij,kj->ki", inverse, right)
    users = t.states + SHARE_USERS
    likelihood = p.likelihood
    if within is not None and isinstance(likelihood, Gaussian):
        square = (within[0] + t.noise[0]) / within[1]
        likelihood = Gaussian(float(np.sqrt(max(square, 1e-300))))
    new = Parameters(
        shares=users / users.sum(),
        means=np.ascontiguousarray(solved[:, r:].T),
        loadings=np.ascontiguousarray(solved[:, :r]),
        own=_own(p.own, t, pull, pull.told(left) if marginal else np.zeros(k)),
        scales=_scales(p.scales, t, pull),
        likelihood=likelihood,
    )
    return new, left


def _scales(scales: FloatArray, t: Sums, pull: Pull) -> FloatArray:
    """Return what users of each state differ by in scale; one state has loadings for that."""
    if len(scales) == 1:
        return np.full(1, LEAST_SCALE)
    ratio, size = t.scale[:, 0] / scales, t.scale[:, 1] / scales**2
    usual = pull.scale_precision * USUAL_SCALE
    return np.maximum((ratio + usual) / (size + pull.scale_precision), LEAST_SCALE)


def _own(own: FloatArray, t: Sums, pull: Pull, fitted: FloatArray) -> FloatArray:
    """Return each arm's own variance by Fisher scoring, drawn to the usual one.

    With R = E (value - f)^2 given z, the score of d is half the sum of R / v^2 - 1 / v over cells,
    and its information half that of 1 / v^2. (EM, which weighs by d / v, hardly moves where cells
    are noisy.) No step is
    beyond a factor of two.
    """
    told, told_before = _told(t), 1.0 / pull.own_variance
    raw = _raw_own(own, t, fitted)
    new = (told * raw + told_before * pull.own) / (told + told_before)
    return np.clip(
        np.maximum(own + pull.rate * (new - own), LEAST_OWN * pull.own), own / 2.0, 2.0 * own
    )


def _told(t: Sums) -> FloatArray:
    """Return the precision of what cells tell of their arm's own variance: that of the scores.

    The square of their information over the sum of their squares; rare clicks tell far less than
    their information does, which is that of Gaussian values.
    """
    return _over(t.own[:, 2] ** 2, t.own[:, 3])


def _raw_own(own: FloatArray, t: Sums, fitted: FloatArray) -> FloatArray:
    """Return each arm's own variance as its cells alone tell it; perhaps below 0.

    So many coefficients were ``fitted`` to these cells, which makes them seem nearer than they are.
    """
    seems = own + _over(t.own[:, 0] - t.own[:, 1], t.own[:, 2])
    return seems + _over(fitted, t.own[:, 1])


def _over(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a / b, and 0 for arms that nobody tried, of which b is 0."""
    ratio: FloatArray = np.divide(a, b, out=np.zeros_like(b), where=b > 0)
    return ratio


def _own_pull(own: FloatArray, t: Sums, pull: Pull, fitted: FloatArray) -> tuple[float, float]:
    """Return the usual own variance, and by how much arms differ in theirs beyond chance."""
    told, raw = _told(t), _raw_own(own, t, fitted)
    new = pull.own + pull.rate * (told @ raw / told.sum() - pull.own)
    usual = float(np.clip(new, pull.own / 2.0, 2.0 * pull.own))
    spread = float((told @ (raw - usual) ** 2 - len(raw)) / told.sum())
    return usual, max(spread, (USUALLY * usual) ** 2)


def pulled(p: Parameters, old: Parameters, pull: Pull, t: Sums, left: FloatArray) -> Pull:
    """Return the strengths that the parameters speak for: mean squares plus what is left.

    ``old`` are the parameters that the sums were made with.
    """
    r, n = p.loadings.shape[1], float(t.states.sum())
    shift = float(p.loadings[:, 0].mean())
    centre = np.zeros(r)
    centre[0] = shift
    columns = ((p.loadings - centre) ** 2 + left[:, :r]).mean(axis=0)
    spread = ((p.means - pull.means) ** 2).mean() + left[:, r:].mean()
    usual, differ = _own_pull(old.own, t, pull, pull.told(left))
    size = t.scale[:, 1].sum() / np.maximum(p.scales.mean() ** 2, 1e-6) / n
    return pull._replace(
        rate=1.0 / (1.0 / pull.rate + SLOWER),
        mean_variance=max(float(spread), 1e-12),
        shift=shift,
        column_variance=np.maximum(columns, 1e-12),
        own=usual,
        own_variance=differ,
        scale_precision=SCALE_USERS * max(float(size), 1e-12),
    )


def centred(p: Parameters, t: Sums) -> Parameters:
    """Return parameters of the same likelihood for users whose z are centred and of variance 1.

    EM would go there by itself, in ten times the steps.
    """
    n = float(t.states.sum())
    mean = t.z / n
    covariance = t.square / n - np.outer(mean, mean)
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(values, 1e-12))) @ vectors.T
    return p._replace(means=p.means + p.loadings @ mean, loadings=p.loadings @ root)


def penalty(p: Parameters, pull: Pull) -> float:
    """Return the log density of the parameters, up to a constant."""
    centre = np.zeros(p.loadings.shape[1])
    centre[0] = pull.shift
    columns = (((p.loadings - centre) ** 2) / pull.column_variance).sum()
    means = ((p.means - pull.means) ** 2).sum() / pull.mean_variance
    own = ((p.own - pull.own) ** 2).sum() / pull.own_variance
    scales = pull.scale_precision * ((p.scales - USUAL_SCALE) ** 2).sum()
    return float(SHARE_USERS * np.log(p.shares).sum() - 0.5 * (columns + means + own + scales))


def without_dead(p: Parameters, pull: Pull) -> tuple[Parameters, Pull]:
    """Return the parameters without columns that nobody needs; the first stays."""
    square = (p.loadings**2).mean(axis=0)
    alive = square > DEAD * (square.max() + p.own.mean())
    alive[0] = True
    if alive.all():
        return p, pull
    kept = p._replace(loadings=np.ascontiguousarray(p.loadings[:, alive]))
    return kept, pull._replace(column_variance=pull.column_variance[alive])


def climb(
    blocks: list[Users],
    p: Parameters,
    pull: Pull,
    steps: int,
    within: tuple[float, float] | None = None,
    run: Map = map,
    learn_pull: bool = True,
) -> tuple[Parameters, Pull, list[float]]:
    """Return parameters after at most so many steps of EM, and the objective before each.

    While the pull is learned, too, the objective is that of a moving target; with a fixed one
    each step raises it, and a step that does not is taken back.
    """
    n = sum(block.n_users for block in blocks)
    trace: list[float] = []
    before = seen = p
    for step in range(steps):
        t = expect_all(blocks, p, run)
        value = float(t.log[0]) + penalty(p, pull)
        if trace and not learn_pull and value < trace[-1]:
            return before, pull, trace
        trace.append(value)
        if step % CHECK == CHECK - 1:
            if abs(value - trace[-CHECK]) < TOLERANCE * n and _near(p, seen):
                break
            seen = p
        before = p
        p, left = maximise(p, pull, t, within, learn_pull)
        if learn_pull:
            pull = pulled(p, before, pull, t, left)
            p = centred(p, t)
            if step % 5 == 4:
                p, pull = without_dead(p, pull)
    return p, pull, trace


def _near(p: Parameters, old: Parameters) -> bool:
    """Tell whether what users differ by has hardly changed."""
    new, old_own = float(p.own.mean()), float(old.own.mean())
    return abs(new - old_own) <= MOVED * new


def careful(p: Parameters, t: Sums) -> Parameters:
    """Return the parameters with own variances some standard errors higher than they seem.

    Few users often seem to differ by nothing of their own. Who believes that stops looking for it,
    and pays for ever; who takes them to differ by a little more pays a little: three standard
    errors of what all arms have in common, and two of what is each arm's own, but no more than
    users differ by in all. Mean rewards stay.
    """
    kind, together, told = p.likelihood, (p.loadings**2).sum(axis=1), _told(t)
    common = CAREFUL / np.sqrt(told.sum())
    spread = USUALLY * (float(p.own.mean()) + common)
    by_arm = BY_ARM / np.sqrt(told + 1.0 / spread**2)
    more = p.own + np.minimum(common + by_arm, float((together + p.own).mean()))
    varied = together + p.components.direction[0, :, :, 0] ** 2
    if kind.exact:
        return p._replace(own=more)
    least, most = kind.mean(np.array([-FAR, FAR]))
    before, after = (
        kind.link(np.clip(kind.expected(kind.mean, p.means, varied + own), least, most))
        for own in (p.own, more)
    )
    return p._replace(own=more, means=p.means + before - after)
