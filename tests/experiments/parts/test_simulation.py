from typing import Any

import numpy as np
import pytest

from lobandits.errors import LobError
from lobandits.experiments.parts import RatingData, Resources, Simulation
from lobandits.experiments.parts.simulation import kept_rounds
from lobandits.simulation import Synthetic, simulate


@pytest.mark.parametrize("horizon", [1, 7, 50, 200, 500, 1000, 4000])
def test_kept_rounds_are_even_and_end_at_the_horizon(horizon: int) -> None:
    points = kept_rounds(horizon)
    assert points[-1] == horizon
    assert len(points) <= 200
    assert len(set(np.diff(points, prepend=0.0))) == 1


def test_a_horizon_that_cannot_be_kept_evenly_is_refused() -> None:
    with pytest.raises(LobError, match="multiple"):
        kept_rounds(501)


def test_a_part_keeps_the_cumulative_regret_of_simulate() -> None:
    options: dict[str, Any] = {"n_arms": 4, "n_states": 3, "sigma": 2.0}
    part = Simulation("synthetic", options, ("ts", "lobts"), horizon=400, n_users=5, seed=3)
    shares: list[float] = []
    found = part.run(Resources(RatingData(), workers=1), shares.append)
    result = simulate(Synthetic(**options), ["ts", "lobts"], 400, 5, 3, progress=False)
    for policy in part.policies:
        kept = result.regret[policy].cumsum(axis=1)[:, 4::5]
        np.testing.assert_array_equal(found.samples[policy], kept)
    assert found.settings == part.settings(RatingData())
    assert sum(shares) == pytest.approx(1.0)
