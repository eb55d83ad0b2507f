"""Theorems 1 and 2, and formulas of the appendices, against what is computed and simulated."""

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import ONCE, Claim, Estimate, by, estimate, exactly, share, trend
from lobandits.experiments.design import SIGMAS, Experiment, Found, Survey
from lobandits.experiments.draw import INK, Canvas, draw_band, remark
from lobandits.orders import UserOrders
from lobandits.simulation import Synthetic, simulate
from lobandits.theory import (
    lobucb_regret_bound,
    regret_lower_bound,
    samples_for_exact_orders,
    similar_order_probability,
)

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
HORIZON = 500
CONSTANTS = {"printed": "constants of the printed proof", "corrected": "corrected constants"}
SIMULATED = (3, 4, 5, 6)
PRINTED, PLACES = 1.24e-5, 0.005e-5
"""The paper's number for k = 10, and half a unit of its last digit."""
SIGMA, GAP, ARMS, USERS, DELTA = 1.0, 0.5, 19, 1000, 0.05
SIZES = {
    constant: samples_for_exact_orders(SIGMA, GAP, ARMS, USERS, DELTA, constant)
    for constant in ("printed", "corrected")
}
GRID = (60, 80, SIZES["printed"], 140, 170, 200, 250, 300, SIZES["corrected"])


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


def bounds_and_regret(n_users: int, seed: int) -> dict[str, FloatArray]:
    """Return lobUCB's regret and both bounds on it, for 15 arms and 15 states."""
    found: dict[str, FloatArray] = {}
    for sigma in SIGMAS:
        env = Synthetic(sigma=sigma)
        result = simulate(env, ["lobucb"], HORIZON, n_users, seed, workers=1, progress=False)
        problems = env.sample(n_users, seed)
        assert isinstance(problems.orders, UserOrders)
        found[f"regret, sigma = {sigma:g}"] = result.totals["lobucb"]
        for constant in CONSTANTS:
            bounds = [
                lobucb_regret_bound(m, problems.orders[u], sigma, HORIZON, constant=constant)
                for u, m in enumerate(problems.means)
            ]
            name = f"{constant} bound, sigma = {sigma:g}"
            found[name] = np.array([bound.regret for bound in bounds])
    return found


def _draw_lower_bounds(found: Found, canvas: Canvas) -> None:
    """Draw the bounds against q; those that know no orders are level lines."""
    (place,) = canvas.panels(1)
    record = found.at()
    x = np.array(list(record.by_value))
    for kind, color in {"MAB": "#8c8c8c", "LOB": "#d55e00", "LB": "#0072b2"}.items():
        lob = kind == "LOB"
        curves = [record.curve(label if lob else kind) for label in record.by_value.values()]
        mean, error = np.transpose([(m[0], e[0]) for m, e in curves])
        draw_band(place, x, mean, error, {"color": color, "marker": "o" if lob else ""})
        end = x[-1], mean[-1]
        remark(place, kind, end, (6, 0), color=color, va="center", annotation_clip=False)
    place.set(ylim=(-0.4, None), xlabel="share of revealed relations $q$")
    place.set(ylabel="regret per $\\log T$")


def _draw_regret(found: Found, canvas: Canvas) -> None:
    (place,) = canvas.panels(1, high=2.2)
    record = found.at()
    for row, label in enumerate(record.labels):
        (mean,), (error,) = record.curve(label)
        color = "#e69f00" if label.startswith("regret") else "#8c8c8c"
        place.barh(row, mean, xerr=error, color=color, height=0.6)
        remark(place, f"{mean:,.0f}", (mean, row), (5, 0), va="center", fontsize=8)
    place.set_yticks(range(len(record.labels)), list(record.labels))
    place.invert_yaxis()
    place.set(xscale="log", xmargin=0.15, xlabel=f"cumulative regret at $T={HORIZON}$")


def _ordered(found: Found) -> list[Estimate]:
    lb, lob, mab = (found.at().total(label) for label in ("LB", "LOB, q = 1", "MAB"))
    return [estimate("LOB minus LB", lob - lb), estimate("MAB minus LOB", mab - lob)]


def _falls(found: Found) -> list[Estimate]:
    record = found.at()
    totals = {q: record.total(label) for q, label in record.by_value.items()}
    return [estimate("fall per q", -trend(totals))]


def _bounded(found: Found, sigma: float, constant: str) -> list[Estimate]:
    bound = found.at().total(f"{constant} bound, sigma = {sigma:g}")
    return [estimate("bound minus regret", bound - found.at().total(f"regret, sigma = {sigma:g}"))]


def similar_pairs(arms: tuple[int, ...], n_pairs: int, seed: int) -> dict[str, FloatArray]:
    """Return whether pairs of distinct random orders differ in exactly two positions."""
    rng = np.random.default_rng(seed)
    found = {}
    for k in arms:
        kept: list[FloatArray] = []
        while sum(map(len, kept)) < n_pairs:
            pairs = rng.permuted(np.tile(np.arange(k), (n_pairs, 2, 1)), axis=2)
            differing = (pairs[:, 0] != pairs[:, 1]).sum(axis=1)
            kept.append((differing[differing > 0] == 2).astype(float))
        found[f"k = {k}"] = np.concatenate(kept)[:n_pairs]
    return found


def exact_orders(n_rewards: tuple[int, ...], n_trials: int, seed: int) -> dict[str, FloatArray]:
    """Return by trial whether every user's arms, ordered by mean reward, are in their order."""
    rng = np.random.default_rng(seed)
    means = GAP * np.arange(ARMS)
    exact = {f"n = {n}": np.zeros(n_trials) for n in n_rewards}
    for trial in range(n_trials):
        errors = rng.normal(scale=SIGMA, size=(USERS, ARMS))
        for n in n_rewards:
            rises = np.diff(means + errors / np.sqrt(n), axis=1) > 0
            exact[f"n = {n}"][trial] = rises.all()
    return exact


def _draw_rarity(found: Found, canvas: Canvas) -> None:
    (place,) = canvas.panels(1)
    arms = range(3, 16)
    place.plot(arms, [float(similar_order_probability(k)) for k in arms], color=INK, marker=".")
    for k in SIMULATED:
        (mean,), (error,) = found.at().curve(f"k = {k}")
        place.errorbar(k, mean, error, fmt="o", color="#d55e00", capsize=2)
    remark(place, "$k=10$: 1.24e-5", (10, PRINTED), (8, 4))
    remark(place, "formula", (13, 1.2e-8), (6, 4))
    remark(place, "simulated", (4.2, 0.26), (6, 2), color="#d55e00")
    place.set(yscale="log", xlabel="number of arms $k$", ylabel="probability")


def _draw_sample_size(found: Found, canvas: Canvas) -> None:
    (place,) = canvas.panels(1)
    record = found.at()
    mean, error = np.transpose([record.curve(label) for label in record.labels])[0]
    sizes = list(record.by_value)
    place.errorbar(sizes, mean, error, color="#d55e00", marker="o", capsize=2)
    place.axhline(1 - DELTA, color=INK, linewidth=0.8, linestyle=":")
    remark(place, "promised: 95%", (sizes[0], 1 - DELTA), (0, -10))
    for (constant, n), factor in zip(SIZES.items(), (2, 8), strict=True):
        place.axvline(n, color="#8c8c8c", linewidth=0.8, linestyle="--")
        text = f"{constant} ({factor}): {n}"
        remark(place, text, (n, 0.4), (-4, 0), rotation=90, ha="right", va="center")
    place.set(ylim=(0, 1.03), xlabel="rewards of each arm from each user")
    place.set(ylabel="share of trials, all orders exact")


def _number(found: Found) -> list[Estimate]:
    off = abs(float(similar_order_probability(10)) - PRINTED)
    return [exactly("half a digit minus the distance from 1.24e-5", PLACES - off)]


def _formula(found: Found) -> list[Estimate]:
    return [
        estimate(f"k = {k}: {name}", sign * (found.at().total(f"k = {k}") - p) + 0.1 * p)
        for k in SIMULATED
        for p in [float(similar_order_probability(k))]
        for sign, name in ((1.0, "above 90%"), (-1.0, "below 110%"))
    ]


def _exact(found: Found, n: int) -> list[Estimate]:
    exact = found.at().total(f"n = {n}")
    return [share("share of exact trials minus 0.95", exact, above=1 - DELTA)]


THEOREM_1 = Experiment(
    name="theorem-1",
    place="Theorem 1 (Section 2.1)",
    title="Least regret of any good policy, by what it knows",
    note="Synthetic, 15 arms, 15 states, sigma = 1: c in the bound c log T.",
    work=(
        Survey(
            name="bounds",
            measure=lower_bounds,
            options={
                "tiny": {"shares": (0.0, 1.0), "n_users": 3},
                "default": {"shares": SHARES, "n_users": 20},
                "full": {"shares": SHARES, "n_users": 200},
            },
        ),
    ),
    draw=_draw_lower_bounds,
    claims=(
        Claim(
            id="lower-bounds-ordered",
            where="Section 2.1, after Theorem 1",
            words="The lower bound on regret is least for LB, larger for LOB, largest for MAB.",
            statistic="bound of LOB minus that of LB, and of MAB minus that of LOB, per log T",
            test=by(ONCE, _ordered),
        ),
        Claim(
            id="lower-bound-falls-with-relations",
            where="Section 5, 'Limitations', sentence 1",
            words="The lower bound falls as relations are added.",
            statistic="minus each user's slope of the LOB bound over q",
            test=by(ONCE, _falls),
        ),
    ),
    value="regret per log T",
)

THEOREM_2 = Experiment(
    name="theorem-2",
    place="Theorem 2 (Section 3.1)",
    title="lobUCB's regret against its guarantee",
    note="Synthetic, 15 arms, 15 states.",
    work=(
        Survey(
            name="bounds",
            measure=bounds_and_regret,
            options={"tiny": {"n_users": 8}, "default": {"n_users": 100}, "full": {"n_users": 400}},
        ),
    ),
    draw=_draw_regret,
    claims=(
        Claim(
            id="lobucb-bound",
            where="Theorem 2 (Section 3.1), proof in Appendix A",
            words="lobUCB's expected regret stays below the bound of the theorem.",
            statistic="bound minus lobUCB's regret at T = 500, by user",
            test=by(
                {
                    f"sigma = {sigma:g}, {name}": (sigma, constant)
                    for sigma in SIGMAS
                    for constant, name in CONSTANTS.items()
                },
                _bounded,
            ),
        ),
    ),
)

RARITY = Experiment(
    name="rarity",
    place="Section 2.1; Appendix F",
    title="How rarely two random orders differ in just two positions",
    work=(
        Survey(
            name="pairs",
            measure=similar_pairs,
            options={
                "tiny": {"arms": SIMULATED, "n_pairs": 2_000},
                "default": {"arms": SIMULATED, "n_pairs": 100_000},
                "full": {"arms": SIMULATED, "n_pairs": 400_000},
            },
        ),
    ),
    draw=_draw_rarity,
    claims=(
        Claim(
            id="similar-orders-rare",
            where="Section 2.1, last paragraph; Appendix F",
            words="Two random orders of 10 arms differ in just two places with probability "
            "1.24e-5.",
            statistic="half a unit of the last digit minus the distance from 1.24e-5",
            test=by(ONCE, _number),
        ),
        Claim(
            id="similar-orders-formula",
            where="Appendix F, Observation",
            words="The probability is C(k, 2) / (k! - 1).",
            statistic="10% of the formula minus the distance of the simulated share, for k = 3 "
            "to 6",
            test=by(ONCE, _formula),
        ),
    ),
    value="share of pairs",
)

SAMPLE_SIZE = Experiment(
    name="sample-size",
    place="Appendix G",
    title="How many rewards make all users' orders exact",
    note="19 arms, means 0.5 apart, sigma = 1, 1000 users, delta = 0.05. Two means keep their "
    "order if both errors stay below half the gap, which makes the constant 8, not 2.",
    work=(
        Survey(
            name="trials",
            measure=exact_orders,
            options={
                "tiny": {"n_rewards": tuple(SIZES.values()), "n_trials": 20},
                "default": {"n_rewards": GRID, "n_trials": 300},
                "full": {"n_rewards": GRID, "n_trials": 1000},
            },
        ),
    ),
    draw=_draw_sample_size,
    claims=(
        Claim(
            id="sample-size-suffices",
            where="Appendix G, last formula",
            words="2 sigma^2 / gap^2 log(2kN / delta) rewards per arm and user make all orders "
            "exact with probability 1 - delta.",
            statistic="share of trials in which all 1000 orders are exact minus 0.95",
            test=by(
                {
                    "constant 2, as printed": (SIZES["printed"],),
                    "constant 8, corrected": (SIZES["corrected"],),
                },
                _exact,
            ),
        ),
    ),
    value="share of trials",
)
