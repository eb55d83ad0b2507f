"""Are the intervals of evaluate right? Logs are generated, so that the truth is known.

Users of states with scales of their own, users without types, and noise; ratings and clicks; 20,
60 or 200 rewards per user on average, a third of the users with one to five; exposure up to 100:1.
The gains of LobBayes over its rivals are compared with those that the same taught policies reach on
fresh users of the same population, who taught nothing and whose true means are known. Bars: 95 %
intervals cover in at least 90 % of the runs, two policies of clearly different rewards are ranked
right in at least 95 %, and noise is never told to use states. The number of states is chosen, as
ever. Run with ``python benchmarks/evaluate.py`` (``--runs 4`` for a first look, ``--only clicks``
for the settings whose name has that text, ``--mixed`` for one setting with structure and one of
noise per seed, in turn).
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
import polars as pl
from timing import show

import lobandits as lob
from lobandits.basics.checks import FloatArray
from lobandits.evaluation.truth import JudgedUsers, problems_of

USERS, ARMS, STATES, HORIZON = 400, 8, 4, 20
FRESH = 1500  # users of known means: so many that the truth itself is hardly noisy
POLICIES = ("popular", "ts", "lobbayes")
PAIRS = (("lobbayes", "popular"), ("lobbayes", "ts"), ("lobbayes", "logs"))


class Setting(NamedTuple):
    """How logs are generated."""

    clicks: bool
    rewards: int  # per user, on average of those with many
    structure: str


class Logs(NamedTuple):
    """Generated logs, the means of fresh users, and how often logs show each arm."""

    rows: pl.DataFrame
    fresh: FloatArray
    exposure: FloatArray


SETTINGS = {
    "ratings, 20, states": Setting(False, 20, "states"),
    "ratings, 60, states": Setting(False, 60, "states"),
    "ratings, 200, states": Setting(False, 200, "states"),
    "ratings, 20, no types": Setting(False, 20, "no types"),
    "clicks, 20, states": Setting(True, 20, "states"),
    "clicks, 60, states": Setting(True, 60, "states"),
    "clicks, 200, states": Setting(True, 200, "states"),
    "clicks, 60, no types": Setting(True, 60, "no types"),
    "ratings, 20, noise": Setting(False, 20, "noise"),
    "clicks, 60, noise": Setting(True, 60, "noise"),
}


class Tastes(NamedTuple):
    """What users like around 0, (n, k), drawn again and again from the same population."""

    structure: str
    centres: FloatArray  # (m, k)

    @classmethod
    def drawn(cls, structure: str, rng: np.random.Generator) -> "Tastes":
        """Return a population: states, one centre, or nothing at all."""
        shape = (STATES if structure == "states" else 1, ARMS)
        size = {"states": 1.0, "no types": 0.7, "noise": 0.0}[structure]
        return cls(structure, rng.normal(0, size, shape))

    def users(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Return what some users like, (n, k)."""
        centre = self.centres[rng.integers(len(self.centres), size=n)]
        if self.structure == "noise":
            return centre
        if self.structure == "no types":
            return centre + rng.normal(0, 0.7, (n, ARMS))
        scales = np.exp(rng.uniform(np.log(0.5), np.log(2), (n, 1)))
        own = 0.2 * rng.normal(size=(n, ARMS)) + 0.3 * rng.normal(size=(n, 1))
        found: FloatArray = scales * centre + own
        return found


def make_logs(setting: Setting, seed: int) -> Logs:
    """Return generated logs, and users like theirs who left none."""
    rng = np.random.default_rng([seed, 171])
    tastes = Tastes.drawn(setting.structure, rng)
    liked = tastes.users(USERS + FRESH, rng)
    means = 1 / (1 + np.exp(1.2 - liked)) if setting.clicks else 3 + liked
    exposure = 100 ** (-rng.permutation(ARMS) / (ARMS - 1))
    exposure /= exposure.sum()
    events = np.maximum(1, rng.poisson(1.4 * setting.rewards, USERS))
    few = rng.random(USERS) < 1 / 3
    events[few] = rng.integers(1, 6, few.sum())
    users = np.repeat(np.arange(USERS), events)
    arms = rng.choice(ARMS, size=len(users), p=exposure)
    expected = means[users, arms]
    noise = rng.random(len(users)) if setting.clicks else rng.standard_normal(len(users))
    rewards = noise < expected if setting.clicks else expected + noise
    names = [f"arm {a}" for a in arms]
    rows = pl.DataFrame({"user": users, "arm": names, "reward": rewards.astype(float)})
    return Logs(rows, means[USERS:], exposure)


def true_gains(report: lob.Evaluation, logs: Logs, seed: int) -> dict[str, float]:
    """Return what each policy earns on fresh users, taught as in the splits, and what logs did."""
    earned: dict[str, list[float]] = {name: [] for name in POLICIES}
    for model in report.models:
        fresh = logs.fresh[:, [int(name.removeprefix("arm ")) for name in model.arms]]
        env = JudgedUsers(problems_of(fresh, model))
        result = lob.simulate(env, POLICIES, HORIZON, FRESH, seed, progress=False, workers=1)
        best = fresh.max(axis=1)[:, None]
        for name in POLICIES:
            earned[name].append(float((best - result.regret[name]).sum(axis=1).mean()))
    truth = {name: float(np.mean(values)) for name, values in earned.items()}
    return truth | {"logs": HORIZON * float((logs.fresh @ logs.exposure).mean())}


class Run(NamedTuple):
    """One log: gains (truth, estimate, low, high), clear pairs ranked right, verdict, seconds."""

    gains: dict[str, tuple[float, float, float, float]]
    ranked: list[bool]
    verdict: str
    seconds: float

    @property
    def covered(self) -> dict[str, bool]:
        """Whether the interval of each gain holds the truth."""
        return {over: low <= true <= high for over, (true, _, low, high) in self.gains.items()}

    def width(self, over: str) -> float:
        """Return how wide the interval of a gain is."""
        _, _, low, high = self.gains[over]
        return high - low

    def shown(self) -> list[str]:
        """Return the run as texts."""
        gains = (f"{o} {t:.2f} in {a:.2f} to {b:.2f}" for o, (t, _, a, b) in self.gains.items())
        return [*gains, self.verdict]


def run(setting: Setting, seed: int) -> Run:
    """Return what evaluate says of one log, and what is true."""
    logs = make_logs(setting, seed)
    start = time.process_time()
    report = lob.evaluate(logs.rows, POLICIES, horizon=HORIZON, seed=seed, workers=1)
    spent = time.process_time() - start
    truth = true_gains(report, logs, seed)
    gains, ranked = {}, []
    for policy, over in PAIRS:
        gain, true = report.gain(policy, over), truth[policy] - truth[over]
        gains[over] = (true, gain.mean, gain.low, gain.high)
        if abs(true) > 0.05 * truth[over]:  # clearly different
            ranked.append((gain.mean > 0) == (true > 0))
    return Run(gains, ranked, report.kind, spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    parser.add_argument("--mixed", action="store_true", help="two settings per seed, in turn")
    options = parser.parse_args()
    chosen = {name: s for name, s in SETTINGS.items() if options.only in name}
    found: dict[str, list[Run]] = {name: [] for name in chosen}
    for seed in range(options.first, options.first + options.runs):
        for name in in_turn(chosen, seed) if options.mixed else chosen:
            found[name].append(run(chosen[name], seed))
            print(seed, name, *found[name][-1].shown(), sep="; ", flush=True)
    show_runs({name: runs for name, runs in found.items() if runs})


def in_turn(settings: dict[str, Setting], seed: int) -> list[str]:
    """Return a setting with structure and one of noise, in turn."""
    noise = [name for name, setting in settings.items() if setting.structure == "noise"]
    others = [name for name in settings if name not in noise]
    return [names[seed % len(names)] for names in (others, noise) if names]


def show_runs(found: dict[str, list[Run]]) -> None:
    """Print a row for each setting, and the sums of those with structure and of noise."""
    rows = []
    noise = [r for name, runs in found.items() if "noise" in name for r in runs]
    others = [r for name, runs in found.items() if "noise" not in name for r in runs]
    sums = {"all with structure": others, "all noise": noise}
    for name, runs in (found | {name: runs for name, runs in sums.items() if runs}).items():
        cover = [np.mean([r.covered[over] for r in runs]) for _, over in PAIRS]
        right = [fine for r in runs for fine in r.ranked]
        verdicts = [r.verdict for r in runs]
        rows.append((
            name, len(runs), *(f"{share:.0%}" for share in cover),
            f"{np.mean(right):.0%} of {len(right)}" if right else "-",
            *(f"{np.mean([r.width(over) for r in runs]):.2f}" for _, over in PAIRS),
            verdicts.count("use"), verdicts.count("no difference"),
            f"{np.mean([r.seconds for r in runs]):.1f}",
        ))  # fmt: skip
    gains, widths = ([f"{word} {over}" for _, over in PAIRS] for word in ("over", "width"))
    columns = ("logs", "runs", *gains, "ranked right", *widths, "use", "no difference",
               "processor s")  # fmt: skip
    show("Gains covered; bars: 90 % covered, 95 % ranked right, noise never in use", columns, rows)


if __name__ == "__main__":
    main()
