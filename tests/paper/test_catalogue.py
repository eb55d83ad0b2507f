import json
from importlib import import_module
from pathlib import Path

import pytest

from lobandits.errors import LobInputError
from lobandits.paper import EXPERIMENTS, GROUPS, figures
from lobandits.paper.catalogue import chosen, drawn
from lobandits.paper.experiment import Sweep
from lobandits.paper.figures import fig4_projecting_less, movielens_task, synthetic_task
from lobandits.paper.parts import RatingData
from lobandits.paper.parts.policies import TOP_ARMS
from lobandits.paper.parts.storage import part_key

PAPER = Path(__file__).parents[2].parent / "shared" / "paper" / "latent-order-bandits.tex"


def test_names_and_claims_are_unique() -> None:
    ids = [claim.id for e in EXPERIMENTS.values() for claim in e.claims]
    assert len(ids) == len(set(ids)) > 25
    assert not set(EXPERIMENTS) & set(GROUPS)


def test_every_figure_stands_in_a_file_of_its_name() -> None:
    """Such as fig2a_regret_over_rounds.py; what several figures share stands in a task."""
    files = {path.stem for path in Path(figures.__path__[0]).glob("*.py")}
    files -= {"__init__", "synthetic_task", "movielens_task"}
    assert len(files) == len(EXPERIMENTS)
    for file in files:
        experiment = import_module(f"lobandits.paper.figures.{file}").EXPERIMENT
        assert EXPERIMENTS[experiment.name] is experiment
        label = experiment.name.replace("figure-", "fig").replace("theorem-", "theorem")
        assert f"{file}_".startswith(f"{label.replace('-', '_')}_")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_are_data(name: str) -> None:
    experiment, ratings = EXPERIMENTS[name], RatingData(seed=3)
    for size in ("tiny", "default", "full"):
        parts = experiment.parts(size)
        settings = [part.settings(ratings) for part in parts.values()]
        assert all(each["seed"] == 3 for each in settings)
        assert len({part_key(each) for each in settings}) == len(settings)
        json.dumps(settings, allow_nan=False)
    assert experiment.draw or experiment.claims


def test_figures_share_their_parts() -> None:
    ratings = RatingData()

    def keys(name: str) -> set[str]:
        parts = EXPERIMENTS[name].parts("default").values()
        return {part_key(part.settings(ratings)) for part in parts}

    assert len(keys("figure-2a") & keys("figure-2b") & keys("figure-2c")) == 2
    assert keys("figure-2a") <= keys("varied-c")
    assert keys("figure-6") == keys("figure-3a") & keys("figure-3b")
    assert keys("computation-time") <= keys("figure-8")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_appendixs_baseline_is_in_every_experiment_that_has_ucb(name: str) -> None:
    sweeps = [work for work in EXPERIMENTS[name].work if isinstance(work, Sweep)]
    assert all(TOP_ARMS in sweep.policies for sweep in sweeps if "ucb" in sweep.policies)
    for shown in (synthetic_task.SHOWN, movielens_task.SHOWN, fig4_projecting_less.SHOWN):
        assert {"ucb", TOP_ARMS} <= set(shown)


def test_users_and_seeds_can_be_chosen() -> None:
    (part, *_) = EXPERIMENTS["figure-3a"].parts("default", users=7).values()
    assert [part.settings(r)["users"] for r in RatingData(seed=4).draws(3)] == [7, 7, 7]
    assert [part.settings(r)["seed"] for r in RatingData(seed=4).draws(3)] == [4, 5, 6]


def test_seeds_and_ratings_decide_the_parts_that_need_them() -> None:
    def keys(name: str, ratings: RatingData) -> set[str]:
        parts = EXPERIMENTS[name].parts("tiny").values()
        return {part_key(part.settings(ratings)) for part in parts}

    one, seed, ratings = RatingData(), RatingData(seed=1), RatingData(generator="gaussian")
    assert keys("figure-2a", one) == keys("figure-2a", ratings)
    assert keys("figure-3a", one).isdisjoint(keys("figure-3a", ratings))
    for name in ("figure-2a", "figure-3a"):
        assert keys(name, one).isdisjoint(keys(name, seed))


def test_experiments_are_in_the_order_of_the_paper() -> None:
    names = list(EXPERIMENTS)
    marks = ["figure-1", "theorem-2", "figure-2a", "figure-2c", "figure-3a", "figure-4b"]
    marks += ["figure-4", "figure-5", "figure-8", "sample-size", "varied-c"]
    assert [name for name in names if name in marks] == marks


def test_choosing() -> None:
    assert [e.name for e in chosen([])] == list(EXPERIMENTS)
    assert {e.name for e in chosen(["claims"])} == {n for n, e in EXPERIMENTS.items() if e.claims}
    assert drawn([]) == set(EXPERIMENTS)
    assert drawn(["claims"]) == set()
    assert drawn(["figure-3a", "claims"]) == {"figure-3a"}
    with pytest.raises(LobInputError, match="did you mean 'figure-3a'"):
        chosen(["figure3a"])


@pytest.mark.skipif(not PAPER.exists(), reason="the paper is not beside the repository")
def test_figures_are_numbered_as_in_the_paper() -> None:
    """Environments without a caption of their own, such as that of 4a and 4b, are not counted."""
    text = PAPER.read_text(encoding="utf-8")
    number, labels = 0, {}
    for body in text.split(r"\begin{figure")[1:]:
        body = body.split(r"\end{figure")[0]
        outside = "".join(part.split(r"\end{subfigure}")[-1] for part in body.split(r"\begin{subf"))
        if r"\caption" in outside and "algorithmic" not in body:
            number += 1
            labels[number] = outside
    assert len(labels) == 8
    marks = {1: "simplex", 2: "Synthetic environments", 3: "MovieLens", 4: "T_{proj}", 5: "k=15"}
    marks |= {6: "m=60", 7: "well-specified Setting A", 8: "misspecified"}
    for figure, mark in marks.items():
        assert mark in labels[figure]
        assert any(name.startswith(f"figure-{figure}") for name in EXPERIMENTS)
