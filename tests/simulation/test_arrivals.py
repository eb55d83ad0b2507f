"""Contexts that arrive: who may play which arms, and what regret is measured against."""

import numpy as np
import pytest

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.simulation.arrivals import Arrivals, context_sets

ENV = lob.Synthetic(n_arms=3, n_states=4, n_contexts=2)
ARMS = ("a: x", "a: y", "b: x", "b: y", "b: z")


def test_each_context_has_its_own_arms() -> None:
    assert context_sets(ARMS).tolist() == [[True] * 2 + [False] * 3, [False] * 2 + [True] * 3]
    with pytest.raises(LobInputError, match="every arm must be named"):
        context_sets((*ARMS, "plain"))


def test_contexts_in_turn() -> None:
    sets = context_sets(ARMS)
    arrivals = Arrivals("in turn", sets, seed=0, first=0, n=3)
    found = [*arrivals.rounds(2), *arrivals.rounds(1)]
    assert [allowed.shape for allowed in found] == [(1, 5)] * 3
    assert [(allowed == sets[t % 2]).all() for t, allowed in enumerate(found)] == [True] * 3


def test_contexts_at_random_depend_on_user_and_round_alone() -> None:
    sets = context_sets(ARMS)
    every = np.array([*Arrivals("random", sets, seed=1, first=0, n=24).rounds(40)])
    later = Arrivals("random", sets, seed=1, first=8, n=8)
    assert (every[:, 8:16] == [*later.rounds(15), *later.rounds(25)]).all()
    assert 0.4 < every[:, :, 0].mean() < 0.6


def test_states_have_an_order_of_their_own_in_each_context() -> None:
    problems = ENV.sample(16, seed=0)
    assert problems.n_arms == 6
    assert problems.arms[:4] == ("0: 0", "0: 1", "0: 2", "1: 0")
    for half in (slice(0, 3), slice(3, 6)):
        assert (np.sort(problems.means[:, half], axis=1) == [0.0, 1.0, 2.0]).all()
        assert (problems.gaps[:, half].min(axis=1) == 0).all()
    assert (problems.means[:, :3] != problems.means[:, 3:]).any()
    precedes = problems.known_orders[0].precedes
    assert not precedes[:, :3, 3:].any()
    assert precedes[:, :3, :3].sum() == 4 * 3


def test_one_context_is_what_it_was() -> None:
    one = lob.Synthetic(n_arms=3, n_states=4, n_contexts=1).sample(16, seed=0)
    plain = lob.Synthetic(n_arms=3, n_states=4).sample(16, seed=0)
    assert (one.means == plain.means).all()
    assert one.orders == plain.orders
    assert one.arrivals is None


@pytest.mark.parametrize("arrivals", ["random", "in turn"])
def test_regret_is_against_the_best_of_the_context(arrivals: str) -> None:
    env = lob.Synthetic(n_arms=3, n_states=4, n_contexts=2, sigma=0.01, arrivals=arrivals)
    result = lob.simulate(env, ["lobts", "ucb"], horizon=60, n_users=16, keep="all", progress=False)
    for name in ("lobts", "ucb"):
        once = result.regret[name]
        assert once.min() >= 0
        assert set(np.unique(once.round(6))) <= {0.0, 1.0, 2.0}
        assert once[:, -10:].sum() == 0


def test_relations_revealed_stay_within_contexts() -> None:
    env = lob.Synthetic(n_arms=5, n_states=3, n_contexts=3, q=0.5)
    precedes = env.sample(8, seed=2).known_orders[3].precedes
    context = np.arange(15) // 5
    assert not precedes[:, context[:, None] != context].any()
    assert precedes.any()


def test_arrivals_that_do_not_exist_are_refused() -> None:
    with pytest.raises(LobInputError, match="arrivals"):
        lob.Synthetic(n_contexts=2, arrivals="sometimes")


def test_the_text_names_the_contexts() -> None:
    assert repr(ENV).endswith("n_contexts=2, arrivals='random')")
