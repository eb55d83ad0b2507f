"""evaluate: would learned states help my users? Some teach, others are judged, several times."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray, whole
from lobandits.basics.progress import progress_bar, spinner
from lobandits.basics.words import counted
from lobandits.beliefs import Likelihood
from lobandits.errors import LobInputError
from lobandits.evaluation.histories import Histories, read_histories
from lobandits.evaluation.replay import ReplayRun
from lobandits.evaluation.report import LOGS, Evaluation
from lobandits.evaluation.splits import Split, sample_users, split_users
from lobandits.evaluation.truth import BOOTSTRAPS, FAMILIES, JudgedUsers, draw_players, problems_of
from lobandits.learning import Model, RewardTable, reward_table
from lobandits.learning.aggregate import Since
from lobandits.learning.arm_effects import read_arm_features
from lobandits.learning.fit_prior import starting_likelihood
from lobandits.learning.learn import features_of, model_of
from lobandits.learning.logs import Logs
from lobandits.learning.user_features import Wanted
from lobandits.simulation import simulate
from lobandits.simulation.policy_run import policy_class

POLICIES = ("popular", "ts", "mixts", "lobts", "lobids", "lobbayes")
ON_ORDERS, FEW_ARMS = ("lobts", "lobids"), 100  # of more arms, orders take too long
POINTS = (5, 10, 20, 50, 100, 200, 500, 1000)
MOST_USERS = 1200  # who teach or are judged; of more, a random sample
MOST_ROUNDS, LEAST_ROUNDS = 100, 5  # unless the horizon is given
SPLITS, PLAYERS = 3, 32
REPEATS = 30  # rewards beyond the first of their cells, to tell noise and residuals


def evaluate(
    logs: Logs,
    policies: Iterable[str] | None = None,
    user: str = "user",
    arm: str = "arm",
    reward: str = "reward",
    *,
    horizon: int | None = None,
    n_states: int | None = None,
    likelihood: Likelihood | str | None = None,
    splits: int = SPLITS,
    players: int = PLAYERS,
    most_users: int = MOST_USERS,
    min_user_rewards: int = 1,
    min_arm_rewards: int = 1,
    skip_empty: bool = False,
    time: str | None = None,
    since: Since | None = None,
    propensity: str | None = None,
    features: Wanted | None = None,
    users: Any = None,
    seed: int = 0,
    workers: int | None = None,
    progress: bool = False,
) -> Evaluation:
    r"""Estimate what policies taught by some users of a log earn for its other users.

    .. math:: \Delta_T(\pi, \pi') = E_u \sum_{t \le T} \mu_{u, a_t} - \mu_{u, a'_t}

    Users are split several times: some teach (`learn`), others are judged. What a judged
    user likes is drawn from the user's posterior (`lobandits.evaluation.truth`); where the logs
    allow it, policies also play on logged rewards alone (`lobandits.evaluation.replay`).

    Parameters
    ----------
    logs, user, arm, reward, min_user_rewards, min_arm_rewards, skip_empty
        As for `reward_table`.
    policies
        Names, perhaps with options. What the logs did, "logs", is judged beside them. By default
        `POLICIES`; of more than 100 arms, those that need no orders.
    horizon
        Decisions for each user. By default the 90th percentile of the rewards per user, from 5 to
        100; the verdict then speaks of their median.
    n_states
        Number of states that are learned; by default chosen anew by each split's teachers.
    likelihood
        As for `learn`.
    splits
        Every user is judged in one of so many splits, and teaches in the others.
    players
        Judged users who play for each truth drawn; twelve truths are drawn for each split.
    most_users
        Of more users, so many at random teach and are judged.
    time, since
        The column of times, which orders rewards for replays; with ``since``, the recent part.
    propensity
        The column of the probabilities with which arms were chosen, for replays of adaptive logs.
    features, users
        What is known of users before their first reward, as for `learn`; those who are judged come
        with theirs.
    seed
        Names all random numbers.
    workers
        Threads; results do not depend on them.
    progress
        Show a progress bar, if standard error is a terminal.

    Examples
    --------
    >>> import lobandits as lob
    >>> logs = lob.make_ratings(n_users=120, n_arms=4, n_states=2, ratings_per_user=30).table
    >>> columns = {"user": "userId", "arm": "genre", "reward": "rating"}
    >>> report = evaluate(logs, ["popular", "ts", "lobbayes"], horizon=20, n_states=2, **columns)
    >>> report.gain("lobbayes", "ts").low > 0
    True
    """
    names = _checked_policies(POLICIES if policies is None else policies)
    seed, splits = whole("seed", seed, least=0), whole("splits", splits, least=2)
    players, n = whole("players", players, least=2), whole("most_users", most_users)
    columns = (user, arm, reward)
    with spinner(progress, "adding up rewards"):
        everybody = reward_table(
            logs, *columns, min_user_rewards=min_user_rewards, min_arm_rewards=min_arm_rewards,
            skip_empty=skip_empty, time=time if since is not None else None, since=since,
        )  # fmt: skip
        rng = np.random.default_rng([seed, everybody.n_users])
        table, parts, dropped = split_users(sample_users(everybody, n, rng), splits, rng)
        options: Any = {"time": time, "since": since, "propensity": propensity}
        histories = read_histories(logs, table, columns, **options)
        others = (arm, reward, time, propensity)
        known = features_of(table, features, logs, user, users, time, others)
    typical, rounds = _horizon(everybody, horizon)
    kind = likelihood or starting_likelihood(everybody, None)[0].name
    gaussian = starting_likelihood(everybody, kind)[0].exact
    residuals = _residuals(histories, table.n_arms) if gaussian else None
    if policies is None and table.n_arms > FEW_ARMS:
        names = [name for name in names if name not in ON_ORDERS]
    total = splits * len(names) * len(FAMILIES) * BOOTSTRAPS * players * rounds
    replays = ReplayRun(histories, names, rounds, seed, propensity is not None)
    played: list[Played] = []
    with progress_bar(total, progress, "evaluating", "decisions") as advance:
        for f, part in enumerate(parts):
            teachers, judged = table.take(part.teachers), table.take(part.judged)
            model = model_of(
                reward_table(teachers), kind, n_states, {}, seed=seed + f, workers=workers,
                features=None if known is None else known.take(part.teachers),
                arm_features=read_arm_features(teachers.arms, None),
            )  # fmt: skip
            x = None if known is None else known.x[part.judged]
            drawn = draw_players(judged, teachers, model, players, seed + f, workers)
            means = drawn.means
            theirs = None if x is None else x[drawn.who]
            env = JudgedUsers(problems_of(means, model, residuals, theirs))
            result = simulate(
                env, names, rounds, len(means), seed + f, workers=workers, progress=advance
            )
            best = means.max(axis=1)[:, None]
            earned = {name: (best - result.regret[name]).cumsum(axis=1) for name in names}
            shown = judged.counts[drawn.who] / judged.counts[drawn.who].sum(axis=1, keepdims=True)
            logged = (shown * means).sum(axis=1)[:, None]
            played.append(Played(model, earned, best, logged, drawn.evidence))
            replays.play(part.judged, model, x)
    return Evaluation(
        **_collected(played, _points(typical, rounds), (len(FAMILIES), BOOTSTRAPS, players)),
        typical=typical,
        judged=min(len(part.judged) for part in parts),
        reward=reward,
        binary=is_binary(everybody),
        replays=replays.found(),
        facts=_facts(everybody, table, parts, played[0].model),
        notes=tuple(_notes(dropped, rounds, horizon, everybody, replays, policies is None)),
    )


class Played(NamedTuple):
    """One split: what was taught, and what its players earned by each round, (n, horizon)."""

    model: Model
    earned: dict[str, FloatArray]
    best: FloatArray  # (n, 1): of their best arm, in one round
    logged: FloatArray  # (n, 1): what the logs did, in one round
    evidence: FloatArray  # (n_judged,): of states over one state


def _points(typical: int, rounds: int) -> tuple[int, ...]:
    return tuple(sorted({*(p for p in POINTS if p < rounds), typical, rounds}))


def _collected(
    played: list[Played], points: tuple[int, ...], shape: tuple[int, ...]
) -> dict[str, Any]:
    """Return the rewards of all splits at the points, as `Evaluation` has them."""
    at, times = np.array(points) - 1, np.array(points)

    def together(parts: list[FloatArray]) -> FloatArray:
        return np.stack([part.reshape(*shape, len(points)) for part in parts])

    def by_family(parts: list[FloatArray]) -> FloatArray:
        curves = np.mean(parts, axis=0)
        families: FloatArray = curves.reshape(shape[0], -1, curves.shape[1]).mean(axis=1)
        return families

    names = list(played[0].earned)
    rewards = {name: together([p.earned[name][:, at] for p in played]) for name in names}
    return {
        "rewards": rewards | {LOGS: together([p.logged * times for p in played])},
        "best": together([p.best * times for p in played]),
        "curves": {name: by_family([p.earned[name] for p in played]) for name in names},
        "points": points,
        "models": tuple(p.model for p in played),
        "evidence": np.concatenate([p.evidence for p in played]),
    }


def _checked_policies(policies: Iterable[str]) -> list[str]:
    names = list(policies)
    for name in names:
        if not isinstance(name, str):
            raise LobInputError(
                f"policies are names, as each split teaches its own, got {type(name).__name__}"
            )
        policy_class(name)
    if len(names) < 2 or len(set(names)) < len(names):
        raise LobInputError(f"give two policies or more, each once, got {names!r}")
    return names


def _horizon(table: RewardTable, horizon: int | None) -> tuple[int, int]:
    """Return the round that the verdict speaks of, and the last."""
    if horizon is not None:
        rounds = whole("horizon", horizon)
        return rounds, rounds
    rewards = table.counts.sum(axis=1)
    middle, late = (int(np.percentile(rewards, share)) for share in (50, 90))
    rounds = min(max(late, LEAST_ROUNDS), MOST_ROUNDS)
    return min(max(middle, LEAST_ROUNDS), rounds), rounds


def is_binary(table: RewardTable) -> bool:
    """Return whether all rewards are 0 or 1: the sum of r^2 is that of r in every cell."""
    sums = table.sums
    return bool(
        (sums == table.squares).all() and (sums >= 0).all() and (sums <= table.counts).all()
    )


def _residuals(histories: Histories | str, n_arms: int) -> FloatArray | None:
    """Return what rewards lie off the means of their cells, if enough tell it."""
    if isinstance(histories, str):
        return None
    found = histories.residuals(n_arms)
    return found if len(found) >= REPEATS and found.std() > 0 else None


def _facts(
    everybody: RewardTable, table: RewardTable, parts: list[Split], model: Model
) -> dict[str, str]:
    rewards, n, judged = everybody.counts.sum(axis=1), table.n_users, len(parts[-1].judged)
    sample = "" if n == everybody.n_users else f", of which {n:,} were drawn"
    return {
        "users": f"{everybody.n_users:,}{sample}",
        "arms": f"{table.n_arms:,}",
        "rewards": f"{everybody.n_rewards:,}, {model.likelihood.name}",
        "rewards per user": f"{np.median(rewards):,.0f} (median), "
        f"{np.percentile(rewards, 90):,.0f} (90th percentile)",
        "splits": f"{len(parts)}; in each {n - judged:,} users teach, {judged:,} are judged",
    }


def _notes(
    dropped: list[str],
    rounds: int,
    horizon: int | None,
    table: RewardTable,
    replays: ReplayRun,
    usual: bool,
) -> Iterable[str]:
    if dropped:
        more = ", ..." if len(dropped) > 3 else ""
        yield (
            f"{counted(len(dropped), 'arm')} left out, as too few users tried them to teach and "
            f"to be judged: {', '.join(dropped[:3])}{more}"
        )
    if usual and table.n_arms - len(dropped) > FEW_ARMS:
        yield (
            f"{' and '.join(ON_ORDERS)} were left out: orders of so many arms take long; name them "
            "to judge them, too"
        )
    late = int(np.percentile(table.counts.sum(axis=1), 90))
    if horizon is None and late > rounds:
        yield f"judged are the first {rounds} decisions of each user; a horizon looks further ahead"
    if replays.way == "queues" and not isinstance(replays.histories, str):
        yield "queues are valid only where arms were not chosen by what users gave before"
