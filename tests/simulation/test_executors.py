import multiprocessing
import subprocess
import sys
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from tests.simulation.helpers import Constant, fixed, same, second_arm, shared_orders

from lobandits.basics.user_code import import_code
from lobandits.policies import POLICIES
from lobandits.simulation import Result, SimulationError, Synthetic, simulate

ENV = Synthetic(n_arms=4, n_states=3, q=0.7, past_users=30, past_rewards=12)
POLICIES_BY_LABEL = {name: name for name in POLICIES} | {"second": second_arm}
MINE = '''
from dataclasses import dataclass
import numpy as np
from lobandits.policies import OrderPolicy

@dataclass(frozen=True)
class Eager(OrderPolicy):
    """Play an arm that tops a state, the more often the more it earned."""

    name = "eager"

    def odds(self, state, allowed):
        means = np.nan_to_num(state.means)
        best = np.exp(means - means.max(axis=1, keepdims=True))
        return best * allowed * self.orders.tops
'''


def spawned() -> ProcessPoolExecutor:
    """Return processes that know nothing of this one."""
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def threads() -> Result:
    return simulate(ENV, POLICIES_BY_LABEL, 40, 30, seed=1, workers=2, progress=False)


def test_a_thread_pool_of_the_callers(threads: Result) -> None:
    with ThreadPoolExecutor(3) as pool:
        result = simulate(ENV, POLICIES_BY_LABEL, 40, 30, 1, executor=pool, progress=False)
        assert pool.submit(int).result() == 0  # still open
    assert same(result, threads)


def test_processes_give_the_same_bits(threads: Result) -> None:
    with spawned() as pool:
        result = simulate(
            ENV, POLICIES_BY_LABEL, 40, 30, 1, workers=2, executor=pool, progress=False
        )
        mean = simulate(ENV, POLICIES_BY_LABEL, 40, 30, 1, executor=pool, keep="mean", chunk_size=8)
        words = r"policy 'constant', user (3|11|19|27), round 5"  # whichever chunk fails first
        with pytest.raises(SimulationError, match=words) as failure:
            simulate(fixed(), [Constant(4, since=5, guilty=3)], 9, 30, executor=pool, chunk_size=8)
    assert same(result, threads)
    for label in threads.policies:
        assert mean.moments[label].table.tobytes() == threads.moments[label].table.tobytes()
    assert failure.value.round == 5


def in_all_ways(mine: Any, executor: Executor | None) -> Result:
    """Run a policy from a file by name, made by a function and as it is."""
    given = mine.Eager(shared_orders(), 1.0)
    policies = {"named": "eager", "made": mine.make, "given": given, "ours": "lobts"}
    return simulate(ENV, policies, 30, 30, 2, executor=executor, chunk_size=8, progress=False)


@pytest.fixture
def mine(tmp_path: Path, forgotten: None) -> Any:
    """Return the module of a file that defines a policy."""
    file = tmp_path / "mine.py"
    file.write_text(
        f"{MINE}\ndef make(problems):\n    return Eager(problems.orders, problems.sigma)\n"
    )
    module = import_code(str(file))
    file.unlink()  # other machines have no such file
    return module


def test_processes_know_policies_from_files(mine: Any) -> None:
    here = in_all_ways(mine, None)
    with spawned() as pool:
        there = in_all_ways(mine, pool)
    assert same(here, there)
    assert here.regret["named"].tobytes() == here.regret["made"].tobytes()


def test_a_dask_cluster_of_two_processes_gives_the_same_bits(threads: Result, mine: Any) -> None:
    distributed = pytest.importorskip("distributed")
    here = in_all_ways(mine, None)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert len(client.scheduler_info()["workers"]) == 2
        with client.get_executor() as executor:
            result = simulate(
                ENV, POLICIES_BY_LABEL, 40, 30, 1, executor=executor, chunk_size=8, progress=False
            )
            there = in_all_ways(mine, executor)
    assert same(result, threads)
    assert same(here, there)


TYPED = """
import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
import lobandits as lob

@dataclass(frozen=True)
class Mine(lob.UCB):
    name = "mine"

if __name__ == "__main__":
    env, policies = lob.Synthetic(4, 3), {"named": "mine", "made": lambda p: Mine(p.n_arms, 1.0)}
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        print(lob.simulate(env, policies, 5, 8, executor=pool, progress=False).policies)
"""


@pytest.mark.parametrize("typed", [True, False])
def test_processes_know_policies_of_scripts_and_prompts(tmp_path: Path, typed: bool) -> None:
    script = tmp_path / "script.py"
    script.write_text(TYPED)
    command = [sys.executable, *(["-c", TYPED] if typed else [str(script)])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "('named', 'made')", done.stderr


class Cancelling(Executor):
    """Cancels what it was given after a while, as an executor does that is shut down."""

    def submit(self, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        Timer(0.1, future.cancel).start()
        return future


def test_chunks_that_are_cancelled_elsewhere_are_not_waited_for() -> None:
    with pytest.raises(CancelledError):
        simulate(Synthetic(3, 2), ["ucb"], 10, 16, workers=1, executor=Cancelling())
