"""All experiments by name, in the order of the paper, and groups of them.

Every file of `figures` that has an EXPERIMENT is one. They are in the order of the places where
they stand in the paper, sections before appendices before what is beyond it.
"""

import re
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from lobandits.basics.checks import closest
from lobandits.errors import LobInputError
from lobandits.paper import figures
from lobandits.paper.experiment import Experiment


def _place(experiment: Experiment) -> tuple[str, str]:
    """Return what sorts experiments: "Section 4.2" < "Appendix B.3" < "Beyond the paper"."""
    found = re.search(r"(Section|Appendix) ([\w.]+)", experiment.place)
    part, number = found.groups() if found else ("Beyond", "")
    return {"Section": "1", "Appendix": "2", "Beyond": "3"}[part], number


_modules = [
    import_module(f"{figures.__name__}.{file.name}") for file in iter_modules(figures.__path__)
]
_all = [module.EXPERIMENT for module in _modules if hasattr(module, "EXPERIMENT")]
EXPERIMENTS: dict[str, Experiment] = {e.name: e for e in sorted(_all, key=_place)}
GROUPS: dict[str, tuple[str, ...]] = {
    "synthetic": tuple(name for name, e in EXPERIMENTS.items() if not e.on_ratings),
    "movielens": tuple(name for name, e in EXPERIMENTS.items() if e.on_ratings),
    "claims": tuple(name for name, e in EXPERIMENTS.items() if e.claims),
    "beyond": tuple(name for name, e in EXPERIMENTS.items() if e.place.startswith("Beyond")),
    "figure-2": ("figure-2a", "figure-2b", "figure-2c"),
    "figure-3": ("figure-3a", "figure-3b"),
}


def chosen(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments of these names and groups, in the order of the paper; none: all."""
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
