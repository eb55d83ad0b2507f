"""Learning with contexts: one table over contexts and arms, compared within contexts only."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from lobandits import LobInputError
from lobandits.learning import learn, reward_table
from lobandits.orders import LatentOrders

ARMS, CONTEXTS = ("film", "game", "news"), ("day", "night")
DAY = [["news", "game", "film"], ["film", "game", "news"]]
NIGHT = [["film", "news", "game"], ["game", "news", "film"]]


def logs(n_users: int, night: int = 8, seed: int = 0) -> pl.DataFrame:
    """Return 24 rewards by day and some at night, of users in two states with own shifts."""
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, str, str, float]] = []
    for user in range(n_users):
        state, shift = user % 2, rng.normal()
        for daypart, ranking, n in (("day", DAY[state], 24), ("night", NIGHT[state], night)):
            for arm in rng.choice(ARMS, n).tolist():
                rows.append((user, daypart, arm, shift - ranking.index(arm) + rng.normal(0, 0.5)))
    return pl.DataFrame(rows, schema=["user", "daypart", "arm", "reward"], orient="row")


def in_state(number: int) -> LatentOrders:
    return LatentOrders.per_context(
        {
            "day": LatentOrders.from_rankings([DAY[number]], ARMS),
            "night": LatentOrders.from_rankings([NIGHT[number]], ARMS),
        }
    )


def test_one_table_over_contexts_and_arms() -> None:
    rows = [(1, "day", "tea", 2.0), (1, "night", "tea", 4.0), (2, "day", "ale", 1.0)]
    frame = pl.DataFrame(rows, schema=["user", "daypart", "arm", "reward"], orient="row")
    table = reward_table(frame, context="daypart")
    assert table.arms == ("day: ale", "day: tea", "night: tea")
    assert table.sums.tolist() == [[0.0, 2.0, 4.0], [1.0, 0.0, 0.0]]


def test_orders_are_learned_in_each_context() -> None:
    model = learn(logs(80), context="daypart", n_states=2)
    assert model.orders.contexts == CONTEXTS
    assert set(model.orders) == {in_state(0)[0], in_state(1)[0]}
    assert len(set(model.labels[::2])) == len(set(model.labels[1::2])) == 1


def test_one_context_changes_no_bit() -> None:
    frame = logs(40).filter(pl.col("daypart") == "day")
    plain = learn(frame, n_states=2)
    model = learn(frame, context="daypart", n_states=2)
    assert model.orders.in_context("day") == plain.orders
    assert model.labels.tobytes() == plain.labels.tobytes()
    for part in ("shares", "means", "loadings", "own", "scales"):
        assert getattr(model.prior, part).tobytes() == getattr(plain.prior, part).tobytes()


def test_sure_orders_stay_within_contexts() -> None:
    orders = learn(logs(80), context="daypart", n_states=2).prior.sure_orders(0.8)
    assert not orders.precedes[:, :3, 3:].any()
    assert not orders.precedes[:, 3:, :3].any()


def test_a_context_with_few_rewards_borrows_from_the_others() -> None:
    """Users who were seen by day only: the best arm at night is found for nearly all of them."""
    model = learn(logs(120, night=1), context="daypart", n_states=2)
    new = reward_table(logs(60, seed=1).filter(pl.col("daypart") == "day"), context="daypart")
    nights = np.zeros(new.counts.shape, dtype=np.int64)
    counts, sums = np.hstack([new.counts, nights]), np.hstack([new.sums, 0.0 * nights])
    _, means, _ = model.prior.posterior(counts, sums)
    night = means[:, 3:]
    best = [ARMS.index(NIGHT[user % 2][0]) for user in range(60)]
    assert np.mean(night.argmax(axis=1) == best) > 0.9


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("daypart", None, "column 'daypart' of the table is empty in 1 row"),
        ("daypart", " ", "column 'daypart' of the table is empty in 1 row"),
        ("daypart", "late: night", "column 'daypart' of the table is a name with ': '"),
        ("arm", None, "column 'arm' of the table is empty in 1 row"),
    ],
)
def test_refuses_rows_without_a_context(column: str, value: Any, message: str) -> None:
    frame = logs(4).with_row_index()
    cell = pl.when(pl.col("index") == 3).then(pl.lit(value, pl.String)).otherwise(pl.col(column))
    with pytest.raises(LobInputError, match=message):
        reward_table(frame.with_columns(cell.alias(column)), context="daypart")


def test_refuses_what_has_no_contexts() -> None:
    table = reward_table(logs(4))
    with pytest.raises(LobInputError, match="has no columns, but context is 'daypart'"):
        reward_table(table, context="daypart")
    with pytest.raises(LobInputError, match="no column 'hour'"):
        reward_table(logs(4), context="hour")
    with pytest.raises(LobInputError, match="must be different columns, got user, arm, arm"):
        reward_table(logs(4), context="arm")
