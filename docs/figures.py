"""Draw the pictures of the documentation into ``docs/img``, each from a run of its own.

Run: ``.venv/bin/python docs/figures.py``. The same code gives the same files.
"""

from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import lobandits as lob

FOLDER = Path(__file__).parent / "img"
GENRES = ["drama", "comedy", "action", "horror"]
STYLE = {
    "svg.hashsalt": "lobandits",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def scales() -> Figure:
    """Draw four users: two orders, and a scale for everybody."""
    ratings = {
        "Ann": [4.8, 4.2, 3.1, 1.2],
        "Bob": [3.4, 3.2, 2.9, 2.6],
        "Cleo": [1.6, 2.8, 4.6, 4.1],
        "Dan": [2.9, 3.1, 3.6, 3.5],
    }
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, pair, state in zip(panels, (("Ann", "Bob"), ("Cleo", "Dan")), (0, 1), strict=True):
        order = np.argsort(ratings[pair[0]])[::-1]
        for name, colour in zip(pair, ("#0072B2", "#D55E00"), strict=True):
            values = np.array(ratings[name])[order]
            panel.plot(range(4), values, "o-", color=colour)
            panel.annotate(name, (3, values[-1]), (8, -3), textcoords="offset points", color=colour)
        panel.set_xticks(range(4), [GENRES[a] for a in order])
        panel.set(title=f"State {state}: " + " > ".join(GENRES[a] for a in order), xlim=(-0.3, 3.6))
        panel.title.set_fontsize(10)
    panels[0].set(ylabel="mean rating (stars)", ylim=(0.8, 5.2))
    return figure


def regret() -> Figure:
    """Draw the regret of lobTS against what people use without orders."""
    env = lob.Synthetic(n_arms=15, n_states=15, sigma=5.0, scale=(0.5, 2.0))
    result = lob.simulate(env, ["ucb", "ts", "lobts", "lobids"], 500, n_users=400, progress=False)
    return result.plot()


@cache
def learned() -> lob.Model:
    """Learn the states of the tutorial."""
    past = lob.make_ratings(n_users=2000, n_arms=12, n_states=8, ratings_per_user=100, seed=0)
    return lob.learn(past.table, user="userId", arm="genre", reward="rating", seed=0)


def states() -> Figure:
    """Draw the states that the tutorial learns."""
    return learned().plot()


def saved() -> Figure:
    """Draw what they save on the tutorial's new users."""
    model = learned()
    new = lob.make_ratings(n_users=2400, n_arms=12, n_states=8, ratings_per_user=100, seed=0)
    env = lob.FixedProblems(new.means[2000:], model.orders, sigma=model.sigma)
    mine = lob.LobBayes(model)
    policies: list[str | lob.Policy] = [lob.Popular(model), "ts", "lobts", "lobids", mine]
    return lob.simulate(env, policies, 100, n_users=400, seed=1, progress=False).plot()


def main() -> None:
    """Write every figure as SVG."""
    FOLDER.mkdir(exist_ok=True)
    with matplotlib.rc_context(STYLE):
        for draw in (scales, regret, states, saved):
            path = FOLDER / f"{draw.__name__}.svg"
            draw().savefig(path, metadata={"Date": None})
            print(path.relative_to(FOLDER.parent))


if __name__ == "__main__":
    main()
