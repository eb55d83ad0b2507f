"""Compare policies on users who agree on an order and disagree on every number.

Each user stretches the scale by a factor between 0.8 and 1.25. Policies that trust known means
(mts) go wrong, policies that trust orders do not. Prints a table, and writes regret.png and
result.npz to the folder ``out``.
"""

from pathlib import Path

import lobandits as lob

POLICIES = ["ucb", "ts", "mts", "toparms", "lobucb", "lobts"]


def main() -> None:
    env = lob.Synthetic(n_arms=10, n_states=10, scale=(0.8, 1.25))
    result = lob.simulate(env, POLICIES, horizon=500, n_users=200, seed=0)
    print(result.summary(bound=True), end="\n\n")
    print(result.difference("lobts", "mts"))
    print(result.difference("lobts", "ts"))

    out = Path("out")
    out.mkdir(exist_ok=True)
    result.save(out / "result.npz")
    result.plot(bound=True).savefig(out / "regret.png", dpi=150)
    print("\nwrote out/result.npz and out/regret.png")


if __name__ == "__main__":
    main()
