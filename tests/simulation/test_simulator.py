from typing import Any

import numpy as np
import pytest
from tests.simulation.helpers import Constant, fixed, same, second_arm

from lobandits.errors import LobInputError
from lobandits.policies import MTS, POLICIES, TS, UCB, TopArmsUCB
from lobandits.policies.registry import needs
from lobandits.simulation import Problems, Result, Synthetic, simulate

ENV = Synthetic(n_arms=5, n_states=4, scale=(0.5, 2.0))
NAMES = tuple(name for name, cls in POLICIES.items() if not needs(cls, "prior"))


def run(**changes: Any) -> Result:
    """Simulate 43 users: five whole blocks and a part of one."""
    settings: dict[str, Any] = {"horizon": 70, "n_users": 43, "seed": 3, "progress": False}
    settings |= changes
    return simulate(settings.pop("env", ENV), settings.pop("policies", NAMES), **settings)


@pytest.fixture(scope="module")
def whole() -> Result:
    return run(workers=1, chunk_size=64)


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("chunk_size", [None, 1, 16, 40])
def test_bits_do_not_depend_on_workers_and_chunks(
    whole: Result, workers: int, chunk_size: int | None
) -> None:
    assert same(whole, run(workers=workers, chunk_size=chunk_size))


def test_seeds_matter(whole: Result) -> None:
    assert not same(whole, run(seed=4))


@pytest.mark.parametrize("n_users", [1, 7, 8, 24])
def test_more_users_leave_the_first_ones_as_they_were(whole: Result, n_users: int) -> None:
    fewer = run(n_users=n_users)
    for name in NAMES:
        assert np.array_equal(fewer.regret[name], whole.regret[name][:n_users])


def test_more_rounds_leave_the_first_ones_as_they_were(whole: Result) -> None:
    names = [name for name in NAMES if name != "mucb"]  # mUCB is told the horizon
    shorter = run(policies=names, horizon=33)
    for name in names:
        assert np.array_equal(shorter.regret[name], whole.regret[name][:, :33])


def test_other_policies_do_not_matter(whole: Result) -> None:
    alone = run(policies=["ts"])
    assert np.array_equal(alone.regret["ts"], whole.regret["ts"])


@pytest.mark.parametrize("rewards", ["gaussian", "clipped", "bernoulli"])
def test_a_run_agrees_with_plain_loops_over_the_public_interface(rewards: str) -> None:
    """One policy step by step: choose and record, with the streams written out."""
    from lobandits.simulation.streams import Stream, block_generator

    env = Synthetic(n_arms=4, n_states=3, rewards=rewards)
    result = run(env=env, policies=["ucb"], horizon=40, n_users=8)
    problems = env.sample(8, seed=3)
    z = block_generator(3, Stream.REWARDS, 0)
    choices = block_generator(3, Stream.CHOICES, 0)
    policy = UCB(4, sigma=problems.sigma)
    state = policy.start(8)
    for t in range(40):
        arms = policy.choose(state, choices)
        users, noise = np.arange(8), z.standard_normal(8)
        place = problems.noise_location[users, arms]
        earned = {
            "gaussian": place + problems.sigma * noise,
            "clipped": np.clip(place + problems.sigma * noise, *(problems.bounds or (0, 0))),
            "bernoulli": (noise < place).astype(float),
        }[rewards]
        lost = problems.means.max(axis=1) - problems.means[users, arms]
        assert np.array_equal(result.regret["ucb"][:, t], lost)
        policy.record(state, arms, earned)


def test_regret_of_a_constant_policy_is_its_gap() -> None:
    result = run(env=fixed(), policies={"second": second_arm, "best": Constant(4)})
    assert (result.regret["second"] == 1.0).all()
    assert (result.regret["best"] == 0.0).all()
    assert result.cumulative("second").mean.tolist() == list(range(1, 71))


def test_keep_mean_equals_keep_all_summed_up(whole: Result) -> None:
    mean = run(keep="mean", workers=2, chunk_size=8)
    for name in NAMES:
        assert mean.totals[name].tobytes() == whole.totals[name].tobytes()
        assert mean.moments[name].table.tobytes() == whole.moments[name].table.tobytes()
        assert np.allclose(mean.totals[name], whole.regret[name].sum(axis=1), rtol=1e-12)
    assert mean.difference("ucb", "ts") == whole.difference("ucb", "ts")
    with pytest.raises(LobInputError, match="keep='all'"):
        _ = mean.regret


def test_policies_meet_the_same_noise() -> None:
    """Two labels of one policy play alike; so do policies that are equal in effect."""
    result = run(policies={"a": "ucb", "b": UCB(5, sigma=1.0), "c": lambda p: UCB(p.n_arms, 1.0)})
    assert result.policies == ("a", "b", "c")
    assert np.array_equal(result.regret["a"], result.regret["b"])
    assert np.array_equal(result.regret["a"], result.regret["c"])


def test_common_noise_makes_paired_differences_precise() -> None:
    result = run(
        policies={"wide": TS(5, 1.0, prior_std=100.0), "wider": TS(5, 1.0, prior_std=110.0)}
    )
    paired = result.difference("wide", "wider").error
    alone = np.hypot(result.cumulative("wide").error[-1], result.cumulative("wider").error[-1])
    assert paired < 0.8 * alone


def test_policies_with_parts_for_each_user_are_shared_out(whole: Result) -> None:
    problems = ENV.sample(43, seed=3)
    assert problems.state_means is not None
    own = {"mts": MTS(problems.state_means, 1.0), "toparms": TopArmsUCB(problems.known_orders, 1.0)}
    result = run(policies=own, workers=2, chunk_size=16)
    for name in own:
        assert np.array_equal(result.regret[name], whole.regret[name])
    with pytest.raises(LobInputError, match="has parts for only 43 users"):
        run(policies=own, n_users=44)


def test_result_knows_its_settings(whole: Result) -> None:
    assert whole.settings == {
        "environment": repr(ENV),
        "policies": {name: name for name in NAMES},
        "horizon": 70,
        "n_users": 43,
        "seed": 3,
        "keep": "all",
    }
    result = run(policies={"x": second_arm, "y": UCB(5, sigma=1.0)})
    assert result.settings["policies"]["x"] == "second_arm"
    assert result.settings["policies"]["y"].startswith("UCB(n_arms=5, sigma=1.0")


def test_times_add_up(whole: Result) -> None:
    assert all(seconds > 0 for seconds in whole.seconds.values())
    assert all(seconds > 0 for seconds in whole.cpu_seconds.values())
    assert list(whole.seconds) == list(NAMES)


class Parts:
    """Counts how many users were asked for at once."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        assert first % 8 == 0
        self.sizes.append(n)
        return Synthetic(n_arms=3, n_states=2).sample(n, seed, first)


def test_any_object_that_samples_is_an_environment_and_chunks_are_bounded() -> None:
    env = Parts()
    simulate(env, ["ucb"], horizon=2, n_users=3000, workers=2, progress=False, keep="mean")
    assert env.sizes[-1] <= max(env.sizes) <= 512
    assert sum(env.sizes[2:]) == 3000  # two blocks to warm up


def test_chunks_share_the_users_evenly() -> None:
    from lobandits.simulation.chunk import even_size

    assert even_size(225, 200, 2, None) == 104
    assert even_size(225, 1100, 2, None) == 280
    assert even_size(225, 100_000, 2, None) <= 512
    assert even_size(225, 3, 8, None) == 8
    assert even_size(10**9, 100, 2, None) == 8
    assert even_size(225, 100, 2, 13) == 16


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policies": "ucb"}, "policies must be a list or a mapping"),
        ({"policies": []}, "policies is empty"),
        ({"policies": ["ucb", "ucb"]}, "two policies are called 'ucb'"),
        ({"policies": ["ubc"]}, "unknown policy 'ubc'; did you mean 'ucb'"),
        ({"policies": [second_arm]}, "give functions a label"),
        ({"policies": {"round": "ucb"}}, "cannot label a policy"),
        ({"policies": {"x": 3}}, "policy 'x' must be a name"),
        ({"policies": {"x": lambda problems: 3}}, "function for policy 'x' returned 3"),
        ({"policies": [UCB(3, sigma=1.0)]}, "policy 'ucb' has 3 arms, the problems have 5"),
        ({"horizon": 0}, "horizon must be a whole number"),
        ({"n_users": -1}, "n_users must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"workers": -2}, "workers must be a whole number"),
        ({"chunk_size": 0}, "chunk_size must be a whole number"),
        ({"keep": "some"}, "unknown keep 'some'"),
        ({"env": "synthetic"}, "env must have a method sample"),
    ],
)
def test_wrong_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        run(**changes)


def test_latent_bandits_need_means_of_states() -> None:
    from tests.simulation.helpers import shared_orders

    from lobandits.simulation import FixedProblems

    env = FixedProblems(np.zeros(4), shared_orders(), 1.0)
    with pytest.raises(LobInputError, match="mts needs the means of states"):
        run(env=env, policies=["mts"])


def test_one_arm_one_user_one_round() -> None:
    result = run(env=Synthetic(1, 1), horizon=1, n_users=1)
    assert all(result.regret[name].tolist() == [[0.0]] for name in NAMES)
    assert "ucb" in str(result.summary())


def test_a_caller_may_follow_a_run() -> None:
    done: list[int] = []
    simulate(Synthetic(3, 2), ["ucb", "ts"], 40, 16, workers=2, progress=done.append)
    assert sum(done) == 2 * 40 * 16
