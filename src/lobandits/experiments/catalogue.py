"""All experiments, in the order of the paper, and how they are named on the command line."""

from collections.abc import Sequence

from lobandits._checks import closest
from lobandits.errors import LobInputError
from lobandits.experiments import (
    computation_time,
    figure_1,
    figure_2a,
    figure_2b,
    figure_2c,
    figure_3a,
    figure_3b,
    figure_4,
    figure_4a,
    figure_4b,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    filtered_data,
    rarity,
    sample_size,
    theorem_1,
    theorem_2,
)
from lobandits.experiments.design import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        figure_1,
        theorem_1,
        rarity,
        theorem_2,
        figure_2a,
        figure_2b,
        figure_2c,
        figure_3a,
        figure_3b,
        figure_4a,
        figure_4b,
        computation_time,
        filtered_data,
        figure_4,
        figure_5,
        figure_6,
        figure_7,
        figure_8,
        sample_size,
    )
}
GROUPS: dict[str, tuple[str, ...]] = {
    "synthetic": tuple(name for name, e in EXPERIMENTS.items() if not e.on_ratings),
    "movielens": tuple(name for name, e in EXPERIMENTS.items() if e.on_ratings),
    "claims": tuple(name for name, e in EXPERIMENTS.items() if e.claims),
    "figure-2": ("figure-2a", "figure-2b", "figure-2c"),
    "figure-3": ("figure-3a", "figure-3b"),
}


def chosen(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments of these names and groups, in the order of the paper; none: all.

    Examples
    --------
    >>> [experiment.name for experiment in chosen(["figure-5", "figure-2"])]
    ['figure-2a', 'figure-2b', 'figure-2c', 'figure-5']
    """
    wanted: set[str] = set()
    for name in names:
        if name not in GROUPS and name not in EXPERIMENTS:
            hint = closest(name, [*EXPERIMENTS, *GROUPS])
            raise LobInputError(f"there is no experiment {name!r}; {hint}--list names all")
        wanted.update(GROUPS.get(name, (name,)))
    return [e for name, e in EXPERIMENTS.items() if name in wanted or not names]


def drawn(names: Sequence[str]) -> set[str]:
    """Return the names of the experiments to draw: "claims" asks for verdicts only."""
    rest = [name for name in names if name != "claims"]
    return {e.name for e in chosen(rest)} if rest or not names else set()
