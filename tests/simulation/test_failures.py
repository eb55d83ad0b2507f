import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from tests.simulation.helpers import Constant, Floating, Raising, Slow, fixed

from lobandits.errors import LobError, LobInputError
from lobandits.simulation import Problems, SimulationError, SimulationInterrupted, simulate

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
    """Only the second chunk has a user 12 to be guilty."""
    policy = Constant(4, since=7, guilty=12)
    with pytest.raises(SimulationError) as failure:
        simulate(fixed(), [policy], 10, 40, workers=2, chunk_size=16, progress=False)
    assert failure.value.user == 12


def test_arms_that_are_no_whole_numbers_are_refused() -> None:
    with pytest.raises(SimulationError, match=r"policy 'floating', round 1: TypeError: decide\(\)"):
        simulate(fixed(), [Floating(4)], 5, 8, progress=False)


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


def test_functions_that_processes_cannot_get_are_refused() -> None:
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
        pytest.raises(LobInputError, match="policy 'mine' cannot be sent to another process"),
    ):
        simulate(fixed(), {"mine": lambda p: Constant(p.n_arms)}, 5, 8, executor=pool)


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
    def decide(self, state, noise):
        print(flush=True)
        return super().decide(state, noise)

simulate(fixed(), [Loud(4)], 100_000, 64, workers=2, chunk_size=8)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_stops_at_once() -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
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
