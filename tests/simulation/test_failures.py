import os
import pickle
import signal
import subprocess
import sys
import time
from collections import deque
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.simulation.helpers import Constant, Floating, Raising, Slow, fixed, shared_orders

from lobandits.errors import LobError, LobInputError
from lobandits.policies import Policy, State
from lobandits.simulation import (
    FixedProblems,
    Problems,
    SimulationError,
    SimulationInterrupted,
    simulate,
)
from lobandits.simulation.chunk import _wait_for_next

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("wrong", [-1, 4, 10**12])
def test_an_illegal_arm_names_policy_user_and_round(wrong: int) -> None:
    policies = {"fine": Constant(4), "bad": Constant(4, since=50, wrong=wrong, guilty=5)}
    with pytest.raises(SimulationError) as failure:
        simulate(fixed(), policies, 60, 20, workers=1, progress=False)
    error = failure.value
    assert str(error) == (
        f"policy 'bad', user 5, round 50: chose arm {wrong}, but the arms are 0 to 3"
    )
    assert (error.policy, error.user, error.round) == ("bad", 5, 50)
    assert isinstance(error, LobError)
    assert isinstance(error, RuntimeError)


def test_an_error_of_a_policy_names_the_first_guilty_user() -> None:
    with pytest.raises(SimulationError, match="no luck") as failure:
        simulate(fixed(), [Raising(4, arm=0)], 60, 20, workers=1, progress=False)
    error = failure.value
    assert (error.policy, error.user, error.round) == ("raising", 0, 4)
    assert isinstance(error.__cause__, ZeroDivisionError)


def test_the_guilty_user_is_counted_from_the_first_of_all() -> None:
    """Only in the chunk that begins with user 16 is somebody guilty."""
    means = np.arange(40.0)[:, None] + np.zeros(4)
    env = FixedProblems(means, shared_orders(), sigma=1.0)

    def make(problems: Problems) -> Policy:
        since = 7 if problems.means[0, 0] == 16 else 99
        return Constant(4, since=since, guilty=3)

    with pytest.raises(SimulationError) as failure:
        simulate(env, {"mine": make}, 10, 40, workers=2, chunk_size=16, progress=False)
    assert failure.value.user == 19


def test_arms_that_are_no_whole_numbers_are_refused() -> None:
    with pytest.raises(SimulationError, match=r"policy 'floating', round 1: TypeError: decide\(\)"):
        simulate(fixed(), [Floating(4)], 5, 8, progress=False)


def test_no_arms_at_all_are_refused() -> None:
    class Silent(Constant):
        def decide(self, state: State, noise: Any, allowed: Any) -> Any:
            return None

    with pytest.raises(SimulationError, match=r"int64 of shape \(8,\), got None"):
        simulate(fixed(), [Silent(4)], 5, 8, progress=False)


def test_an_error_while_absorbing_names_the_user() -> None:
    class Choking(Constant):
        def absorb(self, state: State, users: Any, arms: Any, rewards: Any) -> None:
            if (rewards > 4.0).any():
                raise ZeroDivisionError("too much")
            super().absorb(state, users, arms, rewards)

    with pytest.raises(SimulationError, match="too much") as failure:
        simulate(fixed(), [Choking(4)], 200, 20, workers=1, progress=False)
    assert failure.value.user in range(20)


def broken_maker(problems: Problems) -> Policy:
    raise ZeroDivisionError("no policy today")


def test_a_function_that_fails_is_named() -> None:
    words = "policy 'mine', before the first round: ZeroDivisionError: no policy today"
    with pytest.raises(SimulationError, match=words) as failure:
        simulate(fixed(), {"mine": broken_maker}, 5, 8, progress=False)
    assert failure.value.round == 0


def test_random_numbers_of_the_wrong_shape_are_refused() -> None:
    class Sparing(Constant):
        def draw(self, rng: Any, shape: tuple[int, ...]) -> Any:
            return rng.random((shape[0], 3))

    with pytest.raises(SimulationError, match=r"draw\(rng, \(2, 8\)\) must return"):
        simulate(fixed(), [Sparing(4)], 5, 20, progress=False)


class Miscounting:
    """Gives other numbers of users than it was asked for."""

    def __init__(self, more: int) -> None:
        self.more = more

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        return fixed().sample(n + self.more, seed, first)


@pytest.mark.parametrize("more", [-1, 1, 5])
def test_an_environment_that_miscounts_its_users_is_refused(more: int) -> None:
    with pytest.raises(LobInputError, match="must return Problems of 8 users, got Problems"):
        simulate(Miscounting(more), [Constant(4)], 5, 20, progress=False)


def test_a_run_too_large_for_memory_says_so() -> None:
    with pytest.raises(LobInputError, match=r"no memory for .* keep='mean' needs less"):
        simulate(fixed(), [Constant(4)], 10**6, 10**12, progress=False)
    with pytest.raises(LobInputError, match=r"no memory for .* ask for less"):
        simulate(fixed(), [Constant(4)], 10**18, 8, keep="mean", progress=False)


def test_what_is_no_executor_is_refused() -> None:
    with pytest.raises(LobInputError, match=r"executor must be a concurrent\.futures\.Executor"):
        simulate(fixed(), [Constant(4)], 5, 8, executor=3)  # type: ignore[arg-type]


class Sudden(Future[Any]):
    """Is done right after it was seen not to be."""

    def done(self) -> bool:
        before = super().done()
        if not before:
            self.set_result({})
        return before


def test_a_chunk_that_ends_while_it_is_looked_at_is_not_waited_for() -> None:
    pending: deque[Future[Any]] = deque([Sudden()])
    _wait_for_next(pending)
    assert pending[0].done()


def test_a_failure_stops_the_other_chunks() -> None:
    policies = {"slow": Slow(4), "bad": Constant(4, since=40)}
    began = time.perf_counter()
    with pytest.raises(SimulationError, match="'bad'"):
        simulate(fixed(), policies, 10_000, 64, workers=2, chunk_size=8, progress=False)
    assert time.perf_counter() - began < 20


def test_failures_pickle() -> None:
    error = SimulationError("lobts", 3, 7, "chose arm 9")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "policy 'lobts', user 3, round 7: chose arm 9"
    assert again.user == 3


class Interrupting:
    """Ctrl-C arrives when the third chunk of users is asked for."""

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        if first >= 16:
            raise KeyboardInterrupt
        return fixed().sample(n, seed, first)


def test_an_interrupt_says_what_was_done() -> None:
    with pytest.raises(SimulationInterrupted, match=r"stopped after .* of 40 users") as failure:
        simulate(Interrupting(), [Constant(4)], 5, 40, workers=1, chunk_size=8, progress=False)
    assert isinstance(failure.value, KeyboardInterrupt)


SCRIPT = """
from lobandits.simulation import simulate
from tests.simulation.helpers import Slow, fixed

class Loud(Slow):
    def decide(self, state, noise, allowed):
        print(flush=True)
        return super().decide(state, noise, allowed)

simulate(fixed(), [Loud(4)], 100_000, 64, workers=2, chunk_size=8)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_stops_at_once() -> None:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        cwd=ROOT,
    )
    assert child.stdout is not None
    for _ in range(40):
        assert child.stdout.readline()
    began = time.perf_counter()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=20)
    assert time.perf_counter() - began < 5
    assert child.returncode != 0
    assert "SimulationInterrupted: stopped after" in errors
    assert "0 of 64 users were finished, nothing was kept" in errors
