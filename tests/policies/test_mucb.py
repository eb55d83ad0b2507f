import numpy as np
import pytest
from tests.policies.cases import assert_same_game, constant, gaussian, random_problems
from tests.policies.reference import MUCBTwin

from lobandits.errors import LobInputError
from lobandits.policies import MUCB, MUCBState

USERS = 4


@pytest.mark.parametrize("sigma", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("n_states", "n_arms"), [(1, 1), (1, 4), (3, 1), (7, 5)])
def test_agrees_with_the_listing(n_states: int, n_arms: int, sigma: float) -> None:
    means = random_problems(n_arms, n_states, sigma, 1.0, USERS).state_means
    twins = [MUCBTwin(user.tolist(), sigma, 60) for user in means]
    assert_same_game(MUCB(means, sigma, 60), twins, gaussian(means[:, 0], sigma), rounds=60)


@pytest.mark.parametrize(("constant_", "margin"), [(0.5, 0.0), (6.0, 0.3), (0.0, 0.1)])
def test_agrees_with_the_listing_when_no_state_is_right(constant_: float, margin: float) -> None:
    means = np.random.default_rng(1).normal(size=(5, 4))
    twins = [MUCBTwin(means.tolist(), 0.5, 80, constant_, margin) for _ in range(USERS)]
    policy = MUCB(means, 0.5, 80, constant=constant_, margin=margin)
    assert_same_game(policy, twins, gaussian(np.full((USERS, 4), -2.0), 0.5), rounds=80)


@pytest.mark.plain
def test_agrees_with_the_listing_on_ties() -> None:
    means = [[0.5, 0.5, 0.25], [0.25, 0.5, 0.5], [0.5, 0.5, 0.5]]
    twins = [MUCBTwin(means, 1.0, 30) for _ in range(30)]
    assert_same_game(MUCB(np.array(means), 1.0, 30), twins, constant, rounds=30)


def test_a_belief_is_kept_while_it_is_consistent() -> None:
    policy = MUCB(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), 1.0, 50)
    state = policy.start()
    assert policy.probabilities(state) == pytest.approx(1 / 3)
    assert policy.decide(state, np.array([0.5]), policy.all_arms).tolist() == [1]
    policy.record(state, 1, 1.0)
    assert policy.probabilities(state).tolist() == [[0.0, 1.0, 0.0]]
    policy.record(state, 1, -50.0)
    assert policy.probabilities(state).tolist() == [[0.5, 0.0, 0.5]]


def believing(policy: MUCB, arm: int) -> MUCBState:
    state = policy.start()
    assert isinstance(state, MUCBState)
    assert policy.decide(state, np.array([0.0]), policy.all_arms).tolist() == [arm]
    return state


@pytest.mark.plain
def test_consistency_by_hand() -> None:
    policy = MUCB(np.array([[2.0, 0.0], [0.0, 1.0]]), sigma=0.5, horizon=100)
    state = believing(policy, 0)
    bound = 0.5 * np.sqrt(6 * np.log(100))
    policy.record(state, 0, 2.0 - bound + 1e-9)
    assert policy.probabilities(state).tolist() == [[1.0, 0.0]]
    policy.record(state, 0, 2.0 - 0.5)
    assert policy.probabilities(state).tolist() == [[1.0, 0.0]]
    policy.record(state, 0, 0.0)
    assert policy.probabilities(state).tolist() == [[0.0, 1.0]]
    rows = policy.explain(state).states
    assert [row["consistent"] for row in rows] == [False, True]
    assert rows[0]["visits"] == 3
    assert rows[0]["bound"] == pytest.approx(bound * np.sqrt(3))


@pytest.mark.plain
def test_a_margin_forgives_wrong_means() -> None:
    means = np.array([[2.0, 0.0], [0.0, 1.0]])
    strict, lenient = MUCB(means, 0.1, 100), MUCB(means, 0.1, 100, margin=1.0)
    for policy, arm in ((strict, 1), (lenient, 0)):
        state = believing(policy, 0)
        policy.record(state, [0] * 20, [1.0] * 20, users=0)
        assert policy.decide(state, np.array([0.0]), policy.all_arms).tolist() == [arm]


@pytest.mark.plain
def test_late_rewards_find_the_belief_that_chose_their_arm() -> None:
    policy = MUCB(np.array([[2.0, 0.0], [0.0, 1.0]]), sigma=0.1, horizon=100)
    state = believing(policy, 0)
    policy.record(state, 0, -5.0)
    assert policy.decide(state, np.array([0.0]), policy.all_arms).tolist() == [1]
    policy.record(state, [0, 1], [2.0, 1.0], users=0)
    assert state.visits.tolist() == [[2, 1]]
    assert state.gaps.tolist() == [[7.0, 0.0]]


def test_rewards_of_arms_never_chosen_change_counts_and_sums_only() -> None:
    policy = MUCB(np.eye(2), sigma=1.0, horizon=10)
    state = policy.start()
    assert isinstance(state, MUCBState)
    policy.record(state, 1, 3.0)
    assert state.sums.tolist() == [[0.0, 3.0]]
    assert state.visits.tolist() == [[0, 0]]
    assert state.gaps.tolist() == [[0.0, 0.0]]


def test_merging_adds_gaps_and_forgets_beliefs() -> None:
    policy = MUCB(np.array([[2.0, 0.0], [0.0, 1.0]]), sigma=1.0, horizon=10)
    one, two = believing(policy, 0), believing(policy, 0)
    policy.record(one, 0, 1.0)
    policy.record(two, 0, 1.5)
    both = one.merge(two)
    assert both.gaps.tolist() == [[1.5, 0.0]]
    assert both.visits.tolist() == [[2, 0]]
    assert both.beliefs.tolist() == [[-1, -1]]
    assert one.beliefs.tolist() == [[0, -1]]


def test_explain_says_when_no_state_is_consistent() -> None:
    policy = MUCB(np.array([[1.0, 0.0]]), sigma=0.1, horizon=10)
    state = believing(policy, 0)
    assert policy.explain(state).notes == []
    policy.record(state, 0, -9.0)
    assert "No state is consistent" in str(policy.explain(state))


@pytest.mark.parametrize("options", [{"horizon": 0}, {"constant": -1.0}, {"margin": -0.1}])
def test_refuses_wrong_parameters(options: dict[str, float]) -> None:
    with pytest.raises(LobInputError, match=next(iter(options))):
        MUCB(np.eye(2), 1.0, **({"horizon": 5} | options))  # type: ignore[arg-type]


@pytest.mark.parametrize("belief", [2, 10**6, -2])
def test_beliefs_in_states_that_do_not_exist_are_refused(belief: int) -> None:
    policy = MUCB(np.eye(2), 1.0, horizon=9)
    data = policy.start().to_dict()
    with pytest.raises(LobInputError, match="beliefs must be states from 0 to 1, or -1"):
        policy.restore(data | {"beliefs": np.array([[belief, 0]])})


@pytest.mark.parametrize("n_states", [1, 3])
def test_a_state_of_other_latent_states_is_refused(n_states: int) -> None:
    policy = MUCB(np.eye(2), 1.0, horizon=9)
    state = MUCB(np.ones((n_states, 2)), 1.0, horizon=9).start()
    with pytest.raises(LobInputError, match="another policy made the state"):
        policy.record(state, [0], [1.0])
