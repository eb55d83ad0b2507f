"""Whether evaluate says what a direct simulation on held-out real users says.

Users of a MovieLens edition have their mean ratings of genres. They leave 60 rewards each on random
genres, and `evaluate` sees these alone, in five splits. Directly, the policies that each split
taught play for the users it judged, whose means are known. Bars: the same ranking of policies that
clearly differ, and gains within the intervals. Run with ``python benchmarks/evaluate_movielens.py
FOLDER`` (``--seeds 1`` for a first look).
"""

import argparse
from itertools import combinations

import games
import numpy as np
from timing import machine, show

import lobandits as lob
from lobandits.basics.checks import FloatArray
from lobandits.evaluation.truth import JudgedUsers, problems_of

POLICIES = ("popular", "ts", "lobts", "lobids", "lobbayes")
SEEDS = range(10, 15)
SPLITS, HORIZON, REPEATS, REWARDS = 5, 50, 8, 60
CLEAR = 0.01  # of what a policy earns


def direct(report: lob.Evaluation, means: FloatArray, seed: int) -> dict[str, float]:
    """Return what each policy earns for the users judged, whose means are known, on average."""
    earned: dict[str, list[float]] = {name: [] for name in POLICIES}
    for model in report.models:
        judged = np.setdiff1d(np.arange(len(means)), model.users)
        players = np.repeat(means[judged], REPEATS, axis=0)
        env = JudgedUsers(problems_of(players, model))
        result = lob.simulate(env, POLICIES, HORIZON, len(players), seed, progress=False, workers=1)
        best = players.max(axis=1)[:, None]
        for name in POLICIES:
            earned[name].append(float((best - result.regret[name]).sum(axis=1).mean()))
    return {name: float(np.mean(values)) for name, values in earned.items()}


def compare(folder: str, seed: int) -> tuple[list[tuple[object, ...]], list[bool], list[bool]]:
    """Return a row for each policy, which gains are covered, and which clear pairs ranked right."""
    means = games.movielens(folder, least=100)
    logs = games.table(games.Game(means, means, REWARDS, seed))
    report = lob.evaluate(logs, POLICIES, horizon=HORIZON, splits=SPLITS, seed=seed, workers=1)
    truth = direct(report, means, seed)
    covered, ranked = [], []
    for first, second in combinations(POLICIES, 2):
        gain, true = report.gain(first, second), truth[first] - truth[second]
        covered.append(gain.low <= true <= gain.high)
        if abs(true) > CLEAR * truth[second]:
            ranked.append((gain.mean > 0) == (true > 0))
    rows: list[tuple[object, ...]] = []
    for name in sorted(POLICIES, key=lambda name: -truth[name]):
        gain = report.gain(name, "ts")
        said = f"{gain.mean:+.2f} ({gain.low:.2f} to {gain.high:.2f})"
        rows.append((seed, name, f"{truth[name]:.2f}", f"{truth[name] - truth['ts']:+.2f}", said))
    print(report.verdict, flush=True)
    return rows, covered, ranked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="an edition of MovieLens")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="so many seeds of the five")
    options = parser.parse_args()
    print(machine())
    rows: list[tuple[object, ...]] = []
    covered: list[bool] = []
    ranked: list[bool] = []
    for seed in SEEDS[: options.seeds]:
        more, inside, right = compare(options.folder, seed)
        rows, covered, ranked = rows + more, covered + inside, ranked + right
        print(*more, inside, right, sep="\n", flush=True)
    columns = ("seed", "policy", "earns", "over ts, directly", "over ts, evaluate")
    show(f"MovieLens, {SPLITS} splits, {HORIZON} decisions", columns, rows)
    print(f"gains of all pairs within their intervals: {sum(covered)} of {len(covered)}")
    print(f"pairs that clearly differ, ranked right: {sum(ranked)} of {len(ranked)}")


if __name__ == "__main__":
    main()
