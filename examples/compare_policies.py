"""Compare policies where users agree on an order and disagree on every number.

Writes a table to the screen, and regret.png and result.parquet to the folder ``out``.
"""

from pathlib import Path

import lobandits as lob

POLICIES = ["ucb", "ts", "mts", "toparms", "lobucb", "lobts"]


def main() -> None:
    out = Path("out")
    out.mkdir(exist_ok=True)
    env = lob.Synthetic(n_arms=10, n_states=10, scale=(0.5, 2.0), shift=(-3.0, 3.0))
    result = lob.simulate(env, POLICIES, horizon=500, n_users=200, seed=0)
    print(result.summary(bound=True), end="\n\n")
    print(result.difference("lobts", "mts"))
    print(result.difference("lobts", "ts"))

    figure = result.plot(bound=True)
    figure.savefig(out / "regret.png", dpi=150)
    result.save(out / "result.parquet")
    print("\nwrote out/regret.png and out/result.parquet")


if __name__ == "__main__":
    main()
