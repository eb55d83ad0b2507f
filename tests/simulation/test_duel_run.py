"""Duels against plain loops over the public interface, and what they cost."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import norm
from tests.simulation.helpers import fixed, same

from lobandits.basics.checks import IntArray
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.policies import DoubleTS, DuelPolicy, DuelState, RelativeLobTS
from lobandits.policies.duels import duel_policy
from lobandits.simulation import Problems, Result, SimulationError, Synthetic, simulate_duels
from lobandits.simulation.streams import Stream, block_generator

ENV = Synthetic(n_arms=5, n_states=4, q=0.7)


@dataclass(frozen=True)
class Same(DuelPolicy):
    """Compares one pair again and again; ``wrong`` instead from round ``since`` on."""

    name = "same"
    n_arms: int
    first: int
    second: int
    since: int = 10**9
    wrong: Any = 9
    arms: tuple[str, ...] = field(default=(), kw_only=True)

    def pairs(self, state: DuelState, rng: np.random.Generator) -> IntArray:
        pairs = np.tile([self.first, self.second], (state.n_users, 1))
        if state.wins[0].sum() + 1 >= self.since:
            pairs[-1, 1] = self.wrong
        return pairs


del duel_policy._classes["same"]  # other tests play all duel policies that are known


def run(**changes: Any) -> Result:
    options = {"horizon": 30, "n_users": 20, "seed": 1, "progress": False} | changes
    return simulate_duels(ENV, ["relative", "dts"], **options)


@pytest.mark.parametrize("name", ["relative", "dts"])
def test_a_run_agrees_with_plain_loops_over_the_public_interface(name: str) -> None:
    """Users 8 to 15 are one block: it draws from a generator of its own."""
    problems = ENV.sample(8, seed=1, first=8)
    policy: DuelPolicy = (
        RelativeLobTS(problems.known_orders) if name == "relative" else DoubleTS(problems.n_arms)
    )
    state, rng = policy.start(8), block_generator(1, Stream.CHOICES, 1)
    z = block_generator(1, Stream.REWARDS, 1).standard_normal((30, 8))
    regret = np.empty((8, 30))
    for t in range(30):
        pairs = policy.choose(state, rng)
        winners = []
        for u, (a, b) in enumerate(pairs):
            mu = problems.means[u]
            winners.append(a if mu[a] - mu[b] + 2**0.5 * z[t, u] > 0 else b)
            regret[u, t] = ((mu.max() - mu[a]) + (mu.max() - mu[b])) / 2
        policy.record(state, pairs, winners)
    assert np.allclose(run().regret[name][8:16], regret)


@pytest.mark.parametrize(("workers", "chunk_size"), [(1, None), (2, 8), (2, 16)])
def test_bits_do_not_depend_on_workers_and_chunks(workers: int, chunk_size: int | None) -> None:
    assert same(run(), run(workers=workers, chunk_size=chunk_size))


def test_more_users_and_rounds_leave_the_first_blocks_as_they_were() -> None:
    for label in ("relative", "dts"):
        whole = run().regret[label]
        assert np.array_equal(run(n_users=16).regret[label], whole[:16])
        assert np.array_equal(run(horizon=17).regret[label], whole[:, :17])


class Watched(Same):
    """Remembers the states that it recorded duels in."""

    seen: ClassVar[dict[int, DuelState]] = {}

    def record(self, state: DuelState, pairs: Any, winners: Any, users: Any = None) -> None:
        super().record(state, pairs, winners, users)
        self.seen[id(state)] = state


@pytest.mark.parametrize("pair", [(0, 1), (2, 0), (3, 2), (1, 1)])
def test_the_better_arm_wins_as_often_as_its_reward_would_be_larger(pair: tuple[int, int]) -> None:
    """Means 3, 2, 1, 0 and sigma 1; an arm that duels itself counts for nothing."""
    Watched.seen.clear()
    simulate_duels(fixed(), [Watched(4, *pair)], 250, 16, workers=1, progress=False)
    wins = np.sum([state.wins.sum(axis=0) for state in Watched.seen.values()], axis=0)
    (a, b), n = pair, int(wins.sum())
    if a == b:
        assert n == 0
    else:
        assert wins[a, b] + wins[b, a] == n >= 250 * 16
        assert wins[a, b] / n == pytest.approx(norm.cdf((b - a) / 2**0.5), abs=0.04)


def test_regret_is_the_average_of_the_two_arms() -> None:
    """Means 3, 2, 1, 0."""
    result = simulate_duels(fixed(), [Same(4, 1, 3)], 7, 10, progress=False)
    assert (result.regret["same"] == (1 + 3) / 2).all()


def test_orders_save_duels() -> None:
    result = simulate_duels(
        Synthetic(n_arms=6, n_states=6), ["relative", "dts"], 200, 64, progress=False
    )
    assert result.difference("relative", "dts", level=0.999).high < 0
    first, last = (
        result.regret["relative"][:, :50].mean(),
        result.regret["relative"][:, -50:].mean(),
    )
    assert last < first / 4


def test_partial_orders_do_not_make_regret_linear() -> None:
    """Nothing tells two maximal arms apart but duels between them."""
    free = LatentOrders.from_relations(4, [[(0, 2), (1, 2), (2, 3)]])
    result = simulate_duels(fixed(), {"free": RelativeLobTS(free)}, 400, 32, progress=False)
    regret = result.regret["free"]
    assert regret[:, -100:].mean() < 0.1 * regret[:, :20].mean()


def test_functions_and_policies_may_be_given() -> None:
    policies = {
        "made": lambda problems: DoubleTS(problems.n_arms),
        "given": DoubleTS(5),
        "named": "dts(alpha=0.51)",
    }
    result = simulate_duels(ENV, policies, 10, 16, progress=False)
    tables = {result.regret[label].tobytes() for label in policies}
    assert len(tables) == 1
    orders = ENV.sample(20, seed=0).known_orders
    own = simulate_duels(ENV, [RelativeLobTS(orders)], 10, 20, chunk_size=8, progress=False)
    assert same(own, simulate_duels(ENV, ["relative"], 10, 20, progress=False))


def test_results_say_that_they_are_of_duels() -> None:
    result = run(keep="mean")
    assert result.settings["feedback"] == "duels"
    assert "after 30 duels, seed 1" in str(result.summary())
    with pytest.raises(LobInputError, match="there is none for duels"):
        result.summary(bound=True)


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        (["relativ"], "unknown policy 'relativ'; did you mean 'relative'"),
        (["lobts"], "unknown policy 'lobts'"),
        (["dts(alpha=)"], "cannot read the options"),
        (["dts(rho=1)"], "unknown option of dts 'rho'"),
        ({"mine": lambda problems: 3}, "the function for policy 'mine' returned 3, not a policy"),
        ([DoubleTS(3)], "policy 'dts' has 3 arms, the problems have 5"),
        (DoubleTS(5), "policies must be a list or a mapping"),
        ([], "policies is empty"),
    ],
)
def test_wrong_policies_are_refused(policies: Any, message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        simulate_duels(ENV, policies, 5, 8, progress=False)


@pytest.mark.parametrize("rewards", ["clipped", "bernoulli"])
def test_only_gaussian_rewards_duel(rewards: str) -> None:
    env = Synthetic(n_arms=4, n_states=3, rewards=rewards)
    with pytest.raises(LobInputError, match=f"duels compare Gaussian .* {rewards} ones"):
        simulate_duels(env, ["dts"], 5, 8, progress=False)


def test_an_illegal_pair_names_policy_user_and_round() -> None:
    bad = Same(4, 0, 1, since=5, wrong=9)
    words = r"policy 'same', user 7, round 5: chose the pair \[0, 9\], but the arms are 0 to 3"
    with pytest.raises(SimulationError, match=words):
        simulate_duels(fixed(), [bad], 9, 20, workers=1, chunk_size=8, progress=False)


def test_what_is_no_pair_is_refused() -> None:
    class Single(Same):
        def pairs(self, state: DuelState, rng: np.random.Generator) -> IntArray:
            return super().pairs(state, rng)[:, 0]

    with pytest.raises(SimulationError, match=r"int64 of shape \(8, 2\), got array"):
        simulate_duels(fixed(), [Single(4, 0, 1)], 5, 8, progress=False)


def failing(problems: Problems) -> DuelPolicy:
    raise ZeroDivisionError("no policy today")


def test_a_function_that_fails_is_named() -> None:
    words = "policy 'mine', before the first round: ZeroDivisionError: no policy today"
    with pytest.raises(SimulationError, match=words):
        simulate_duels(fixed(), {"mine": failing}, 5, 8, progress=False)
