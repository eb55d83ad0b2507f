r"""A simulation of duels, as a plain loop.

Arm a wins against b if its reward would be larger, which has probability

.. math:: P(R_a > R_b) = \Phi\Big(\frac{\mu_a - \mu_b}{\sigma \sqrt 2}\Big);

an arm that duels itself wins or loses by a coin. The regret of a round is the average of the two
arms' regrets, :math:`((\mu^* - \mu_a) + (\mu^* - \mu_b)) / 2`: it is 0 only if the best arm duels
itself.
"""

from collections.abc import Callable, Mapping

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.errors import LobInputError
from lobandits.paper.duels.duel_policy import DuelPolicy
from lobandits.simulation import Environment, Problems


def simulate_duels(
    env: Environment,
    policies: Mapping[str, Callable[[Problems], DuelPolicy]],
    horizon: int,
    n_users: int,
    seed: int = 0,
) -> dict[str, FloatArray]:
    """Return each policy's regret of each user and round, (n_users, horizon), by its label.

    All policies meet the same users and the same noise. Rewards must be Gaussian.

    Examples
    --------
    >>> from lobandits.simulation import Synthetic
    >>> from lobandits.paper.duels import RelativeLobTS
    >>> policies = {"mine": lambda p: RelativeLobTS(p.known_orders, rho=0.2)}
    >>> simulate_duels(Synthetic(n_arms=4, n_states=3), policies, 50, n_users=16)["mine"].shape
    (16, 50)
    """
    problems = env.sample(n_users, seed)
    if problems.rewards != "gaussian" or problems.arrivals is not None or problems.changes:
        raise LobInputError(f"duels need users with Gaussian rewards who do not change, got {env}")
    best, spread = problems.means.max(axis=1), np.sqrt(2.0) * problems.sigma
    regret = {label: np.empty((n_users, horizon)) for label in policies}
    for label, make in policies.items():
        policy, rng = make(problems), np.random.default_rng([seed, 0])
        shocks, wins = np.random.default_rng([seed, 1]), policy.start(n_users)
        for t in range(horizon):
            pairs = policy.choose(wins, rng)
            first, second = np.take_along_axis(problems.means, pairs, axis=1).T
            won = first - second + spread * shocks.standard_normal(n_users) > 0
            policy.record(wins, pairs, np.where(won, pairs[:, 0], pairs[:, 1]))
            regret[label][:, t] = best - (first + second) / 2
    return regret
