"""Theorem 1, Section 2.1: lower bounds on regret where means, orders, or nothing is known."""

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.orders import LatentOrders, UserOrders
from lobandits.paper.claims import NO_VARIANTS, Claim, Estimate, estimate, for_each, trend
from lobandits.paper.drawing import Canvas, draw_band, remark
from lobandits.paper.experiment import Experiment, Survey
from lobandits.paper.parts import Records
from lobandits.simulation import Synthetic
from lobandits.theory import regret_lower_bound

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def lower_bounds(shares: tuple[float, ...], n_users: int, seed: int) -> dict[str, FloatArray]:
    """Return the constants c of c log T for 15 arms, 15 states and sigma = 1, by user."""
    total = Synthetic().sample(n_users, seed)
    known = total.state_means
    assert known is not None

    def constants(kind: str, q: float = 1.0) -> FloatArray:
        orders = Synthetic(q=q).sample(n_users, seed).orders
        assert isinstance(orders, UserOrders)
        bounds = [
            regret_lower_bound(mu, orders[u], total.sigma, kind, known[u])
            for u, mu in enumerate(total.means)
        ]
        return np.array([bound.constant for bound in bounds])

    lob = {f"LOB, q = {q:g}": constants("lob", q) for q in shares}
    return {"LB": constants("lb"), "MAB": constants("mab"), **lob}


def bounds_where_means_are_shared(n_users: int, seed: int) -> dict[str, FloatArray]:
    """Return the constants where rival states leave the mean of the best arm as it is.

    Each of the 14 rival states keeps the best arm at 14, puts another arm at 15, and shuffles the
    means of the rest: playing the best arm tells nothing, so even known means cost log T.
    """
    rng = np.random.default_rng(seed)
    kinds: dict[str, list[float]] = {"LB": [], "LOB": [], "MAB": []}
    for _ in range(n_users):
        means = rng.permutation(15).astype(float)
        best = int(means.argmax())
        others = np.flatnonzero(np.arange(15) != best)
        states = np.tile(means, (15, 1))
        for state in states[1:]:
            state[others] = rng.permutation(means[others])
            state[rng.choice(others)] = 15.0
        orders = LatentOrders.from_means(states)
        for kind, found in kinds.items():
            bound = regret_lower_bound(means, orders, 1.0, kind.lower(), states)
            found.append(bound.constant)
    return {kind: np.array(found) for kind, found in kinds.items()}


WORK = (
    Survey(
        name="shared means",
        measure=bounds_where_means_are_shared,
        options={"tiny": {"n_users": 3}, "default": {"n_users": 20}, "full": {"n_users": 200}},
    ),
    Survey(
        name="bounds",
        measure=lower_bounds,
        options={
            "tiny": {"shares": (0.0, 1.0), "n_users": 3},
            "default": {"shares": SHARES, "n_users": 20},
            "full": {"shares": SHARES, "n_users": 200},
        },
    ),
)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw the bounds against q; those that know no orders are level lines."""
    (panel,) = canvas.panels(1)
    record = records.at(measure="bounds")
    x = np.array(list(record.by_value))
    for kind, color in {"MAB": "#8c8c8c", "LOB": "#d55e00", "LB": "#0072b2"}.items():
        lob = kind == "LOB"
        curves = [record.curve(label if lob else kind) for label in record.by_value.values()]
        mean, error = np.transpose([(m[0], e[0]) for m, e in curves])
        draw_band(panel, x, mean, error, {"color": color, "marker": "o" if lob else ""})
        end = x[-1], mean[-1]
        remark(panel, kind, end, (6, 0), color=color, va="center", annotation_clip=False)
    panel.set(ylim=(-0.4, None), xlabel="share of revealed relations $q$")
    panel.set(ylabel="regret per $\\log T$")


def _ordered(records: Records, task: str, lob_label: str) -> list[Estimate]:
    record = records.at(measure=task)
    lb, lob, mab = (record.total(label) for label in ("LB", lob_label, "MAB"))
    return [
        estimate(f"LOB minus LB ({lb.mean():.3g})", lob - lb),
        estimate("MAB minus LOB", mab - lob),
    ]


def _falls(records: Records) -> list[Estimate]:
    record = records.at(measure="bounds")
    totals = {q: record.total(label) for q, label in record.by_value.items()}
    return [estimate("fall per q", -trend(totals))]


CLAIMS = (
    Claim(
        id="lower-bounds-ordered",
        where="Section 2.1, after Theorem 1",
        words="The lower bound on regret is least for LB, larger for LOB, largest for MAB.",
        statistic="bound of LOB minus that of LB, and of MAB minus that of LOB, per log T",
        test=for_each(
            {
                "synthetic task, where LB is 0": ("bounds", "LOB, q = 1"),
                "states that share the best arm's mean": ("shared means", "LOB"),
            },
            _ordered,
        ),
    ),
    Claim(
        id="lower-bound-falls-with-relations",
        where="Section 5, 'Limitations', sentence 1",
        words="The lower bound falls as relations are added.",
        statistic="minus each user's slope of the LOB bound over q",
        test=for_each(NO_VARIANTS, _falls),
    ),
)

EXPERIMENT = Experiment(
    name="theorem-1",
    place="Theorem 1 (Section 2.1)",
    title="Least regret of any good policy, by what it knows",
    note="Synthetic, 15 arms, 15 states, sigma = 1: c in the bound c log T. LB is 0 here, since "
    "every rival state gives the best arm another mean; the second task of the first claim has "
    "states that do not.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
    value="regret per log T",
)
