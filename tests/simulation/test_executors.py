import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from tests.simulation.helpers import Constant, fixed, same, second_arm

from lobandits.policies import POLICIES
from lobandits.simulation import Result, SimulationError, Synthetic, simulate

ENV = Synthetic(n_arms=4, n_states=3, q=0.7)
POLICIES_BY_LABEL = {name: name for name in POLICIES} | {"second": second_arm}


@pytest.fixture(scope="module")
def threads() -> Result:
    return simulate(ENV, POLICIES_BY_LABEL, 40, 30, seed=1, workers=2, progress=False)


def test_a_thread_pool_of_the_callers(threads: Result) -> None:
    with ThreadPoolExecutor(3) as pool:
        result = simulate(ENV, POLICIES_BY_LABEL, 40, 30, 1, executor=pool, progress=False)
        assert pool.submit(int).result() == 0  # still open
    assert same(result, threads)


def test_processes_give_the_same_bits(threads: Result) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
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


def test_a_dask_cluster_of_two_processes_gives_the_same_bits(threads: Result) -> None:
    distributed = pytest.importorskip("distributed")
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
    assert same(result, threads)
