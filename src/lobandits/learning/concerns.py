"""What in a log makes its lessons doubtful, in plain sentences."""

import numpy as np

from lobandits.basics.words import counted
from lobandits.learning.table import RewardTable

FEW_REWARDS = 5  # a user with fewer tells little of a state
FEW_USERS = 10  # an arm that fewer tried is known by the population only
MANY_ARMS = 100
SHOWN = 3


def concerns(
    table: RewardTable, sigma_from: str, user: str, arm: str, likelihood: str = "gaussian"
) -> list[str]:
    """Return what a person should know of the logs behind a model, most telling first.

    >>> ones = np.ones((2, 3))
    >>> table = RewardTable(["ann", "bob"], ["x", "y", "z"], ones, ones, ones)
    >>> for sentence in concerns(table, "model", "user", "arm"):
    ...     print(sentence)
    there are more arms (3) than users (2); are the columns 'user' and 'arm' swapped?
    most users (2 of 2) have fewer than 5 rewards
    3 arms were tried by fewer than 10 users: x, y, z
    no user has enough repeated rewards from one arm, so sigma rests on the model
    """
    found = (
        _columns(table, user, arm),
        _few_rewards(table),
        _few_users(table),
        "no user has enough repeated rewards from one arm, so sigma rests on the model"
        if sigma_from == "model"
        else "",
        _counts(table) if likelihood == "gaussian" else "",
    )
    return [sentence for sentence in found if sentence]


def _columns(table: RewardTable, user: str, arm: str) -> str:
    n, k = table.n_users, table.n_arms
    if k > n:
        return (
            f"there are more arms ({k:,}) than users ({n:,}); are the columns {user!r} and "
            f"{arm!r} swapped?"
        )
    if k > MANY_ARMS and all(map(_is_number, table.arms)):
        return f"all {k:,} arms are numbers; is {arm!r} the column of arms, or a price or a time?"
    if k > MANY_ARMS:
        return f"there are {k:,} arms; is {arm!r} the column of arms? Few arms are learned faster"
    return ""


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _few_rewards(table: RewardTable) -> str:
    few = int((table.counts.sum(axis=1) < FEW_REWARDS).sum())
    if few <= table.n_users / 2:
        return ""
    return f"most users ({few:,} of {table.n_users:,}) have fewer than {FEW_REWARDS} rewards"


def _few_users(table: RewardTable) -> str:
    tried = np.count_nonzero(table.counts, axis=0)
    rare = [table.arms[a] for a in np.argsort(tried, kind="stable") if tried[a] < FEW_USERS]
    if not rare:
        return ""
    were = "was" if len(rare) == 1 else "were"
    more = ", ..." if len(rare) > SHOWN else ""
    return (
        f"{counted(len(rare), 'arm')} {were} tried by fewer than {FEW_USERS} users: "
        f"{', '.join(rare[:SHOWN])}{more}"
    )


def _counts(table: RewardTable) -> str:
    """Say so where rewards look like counts: whole, from 0, and noisier where they are larger."""
    tried = table.counts > 0
    n, sums, squares = (cells[tried] for cells in (table.counts, table.sums, table.squares))
    whole = not ((n % 1).any() or (sums % 1).any() or (squares % 1).any())
    if not whole or (sums < 0).any() or (squares == sums).all():
        return ""
    mean = sums / n
    zeros = bool((sums == 0).any())  # ratings from 1 to 5 have none
    large = float(squares.sum() / n.sum()) - float(mean.mean()) ** 2 > 0.5 * float(mean.mean())
    if not (zeros and large):
        return ""
    return (
        "rewards are whole numbers from 0, and look like counts; if they are, learn with "
        "--likelihood poisson"
    )
