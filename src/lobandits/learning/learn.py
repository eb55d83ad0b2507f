"""learn: from logs to a model of users."""

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from lobandits.basics.checks import whole
from lobandits.basics.progress import spinner
from lobandits.beliefs import Likelihood
from lobandits.errors import LobInputError, LobWarning
from lobandits.learning.aggregate import Since
from lobandits.learning.arm_effects import ArmFeatures, read_arm_features
from lobandits.learning.fit_prior import fit_prior
from lobandits.learning.logs import Logs, reward_table
from lobandits.learning.model import Model
from lobandits.learning.table import RewardTable
from lobandits.learning.user_features import (
    UserFeatures,
    Wanted,
    path_of,
    read_user_features,
)

SHOWN = 3  # arms in a message


def learn(
    logs: Logs,
    user: str = "user",
    arm: str = "arm",
    reward: str = "reward",
    n_states: int | None = None,
    *,
    likelihood: Likelihood | str | None = None,
    features: Wanted | None = None,
    users: Any = None,
    arm_features: Any = None,
    context: str | None = None,
    time: str | None = None,
    since: Since | None = None,
    half_life: str | float | None = None,
    min_user_rewards: int = 1,
    min_arm_rewards: int = 1,
    skip_empty: bool = False,
    seed: int = 0,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool = True,
) -> Model:
    r"""Learn the prior of users' tastes that maximises the evidence of their rewards.

    .. math:: \max_{w, m, L, d, \rho} \; \sum_u \log \sum_s w_s \,
              p(\mathrm{rewards}_u \mid s; m, L, d, \rho)

    by EM, on the cells that exist: see `Prior` for the model, and `fit_prior` for how.

    Parameters
    ----------
    logs, user, arm, reward, context, time, since, half_life, min_user_rewards, min_arm_rewards,
    skip_empty
        As for `reward_table`.
    n_states
        Number of states, m; by default chosen by the evidence of held-out users, and kept as
        `Model.curve`. One state is a possible answer.
    likelihood
        How rewards come: "gaussian", "bernoulli" (0 or 1) or "poisson" (counts), or an object such
        as ``Gaussian(1.0)``, whose noise is known. By default Bernoulli where all rewards are 0 or
        1, else Gaussian with the noise learned.
    features
        What is known of users before their first reward: names of columns, or their kinds by name
        ("category", "boolean", "number"; None for that of the data). See :doc:`features`.
    users
        Where these columns are, unless in the logs: a table with a row for each user, and the
        column ``user``. A file, a frame, or an ibis table.
    arm_features
        What is known of arms: a table with a row for each, and the column ``arm``; or a dict by the
        names of arms. It lets rare arms and new ones (`Model.with_arm`) start warm. In contexts it
        is that of arms without these; context and arm are features by themselves.
    seed
        Names all random numbers.
    workers, executor
        Threads, or where else blocks of users are summed up; results do not depend on them.
    progress
        Say what is being done, if standard error is a terminal.

    Examples
    --------
    >>> import lobandits as lob
    >>> ratings = lob.make_ratings(n_users=200, n_arms=4, n_states=2, seed=1)
    >>> model = learn(ratings.table, "userId", "genre", "rating", n_states=2)
    >>> set(model.orders) == set(ratings.orders), model.prior.shares.shape
    (True, (2,))
    """
    filters: dict[str, Any] = {
        "context": context,
        "time": time,
        "since": since,
        "half_life": half_life,
        "min_user_rewards": min_user_rewards,
        "min_arm_rewards": min_arm_rewards,
        "skip_empty": skip_empty,
    }
    whole("seed", seed, least=0)
    with spinner(progress, "adding up rewards"):
        table = reward_table(logs, user, arm, reward, **filters)
    known = features_of(table, features, logs, user, users, time, (arm, reward, context))
    for sentence in known.concerns if known is not None else ():
        warnings.warn(sentence, LobWarning, stacklevel=2)
    options = {"user": user, "arm": arm, "reward": reward, **filters}
    if users is not None:
        options["users"] = path_of(users)
    of_arms = read_arm_features(table.arms, arm_features, arm)
    if arm_features is not None:
        options["arm_features"] = path_of(arm_features)
    return model_of(
        table, likelihood, n_states, options, features=known, arm_features=of_arms, seed=seed,
        workers=workers, executor=executor, progress=progress,
    )  # fmt: skip


def features_of(
    table: RewardTable,
    features: Wanted | None,
    logs: Logs,
    user: str,
    users: Any = None,
    time: str | None = None,
    others: Sequence[str | None] = (),
) -> UserFeatures | None:
    """Return the features of a table's users, if any are asked for; see `read_user_features`."""
    if features is None:
        if users is not None:
            raise LobInputError(
                "users was given without features; name its columns that tell of users"
            )
        return None
    return read_user_features(table, features, logs, user, users, time, others)


def model_of(
    table: RewardTable,
    likelihood: Likelihood | str | None,
    n_states: int | None,
    options: Mapping[str, Any],
    *,
    features: UserFeatures | None = None,
    arm_features: ArmFeatures | None = None,
    seed: int = 0,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Model:
    """Return the model of a table of rewards; ``options`` say where it comes from."""
    sigma: Any = getattr(likelihood, "sigma", 1.0)
    if np.ndim(sigma) and len(sigma) != table.n_arms:
        raise LobInputError(
            f"likelihood has {len(sigma)} sigmas, but there are {table.n_arms} arms; give one for "
            f"each of {', '.join(table.arms[:SHOWN])}{', ...' if table.n_arms > SHOWN else ''}, or "
            "one for all"
        )
    learned = fit_prior(
        table, likelihood, n_states, features=features, arm_features=arm_features, seed=seed,
        workers=workers, executor=executor, progress=progress,
    )  # fmt: skip
    kind = likelihood.to_dict() if isinstance(likelihood, Likelihood) else likelihood
    told = {**options, "likelihood": kind, "n_states": n_states, "seed": seed}
    if features is not None:
        told["features"] = {one.name: one.kind for one in features.features.all}
    return Model(
        prior=learned.prior,
        users=table.users,
        labels=learned.labels,
        sizes=np.bincount(learned.labels, minlength=learned.prior.n_states),
        curve=learned.curve,
        sigma_from=learned.sigma_from,
        options={name: _plain(value) for name, value in told.items()},
    )


def _plain(value: Any) -> Any:
    """Return an option as JSON has it; times become text."""
    return value if isinstance(value, str | int | float | dict | None) else str(value)
