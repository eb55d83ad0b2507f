"""All experiments by name, in the order of the paper, and groups of them."""

from collections.abc import Sequence

from lobandits.basics.checks import closest
from lobandits.errors import LobInputError
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures import (
    computation_time,
    every_policy,
    fig1_knowledge,
    fig2a_regret_over_rounds,
    fig2b_number_of_states,
    fig2c_revealed_relations,
    fig3a_setting_a,
    fig3b_misspecification,
    fig4_projecting_less,
    fig4a_setting_b,
    fig4b_setting_b_states,
    fig5_few_and_many_states,
    fig6_setting_a_per_round,
    fig7_setting_a_states,
    fig8_setting_b_per_round,
    filtered_data,
    one_gaussian,
    rarity_of_similar_orders,
    sample_size,
    theorem1_lower_bounds,
    theorem2_lobucb_bound,
    varied_c,
)

EXPERIMENTS: dict[str, Experiment] = {
    file.EXPERIMENT.name: file.EXPERIMENT
    for file in (
        fig1_knowledge,
        theorem1_lower_bounds,
        rarity_of_similar_orders,
        theorem2_lobucb_bound,
        fig2a_regret_over_rounds,
        fig2b_number_of_states,
        fig2c_revealed_relations,
        fig3a_setting_a,
        fig3b_misspecification,
        fig4a_setting_b,
        fig4b_setting_b_states,
        computation_time,
        filtered_data,
        fig4_projecting_less,
        fig5_few_and_many_states,
        fig6_setting_a_per_round,
        fig7_setting_a_states,
        fig8_setting_b_per_round,
        sample_size,
        varied_c,
        one_gaussian,
        every_policy,
    )
}
GROUPS: dict[str, tuple[str, ...]] = {
    "synthetic": tuple(name for name, e in EXPERIMENTS.items() if not e.on_ratings),
    "movielens": tuple(name for name, e in EXPERIMENTS.items() if e.on_ratings),
    "claims": tuple(name for name, e in EXPERIMENTS.items() if e.claims),
    "beyond": ("varied-c", "one-gaussian", "every-policy"),
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
