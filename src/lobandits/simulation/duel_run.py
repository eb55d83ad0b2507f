r"""A round of duels: the policy chooses two arms for each user, and is told which one won.

Arm a wins against b if its reward would be larger, which has probability

.. math:: P(R_a > R_b) = \Phi\Big(\frac{\mu_a - \mu_b}{\sigma \sqrt 2}\Big);

an arm that duels itself wins or loses by a coin. The regret of a round is the average of the two
arms' regrets, :math:`((\mu^* - \mu_a) + (\mu^* - \mu_b)) / 2`.
"""

from concurrent.futures import CancelledError
from threading import Event
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.policies import DUEL_POLICIES, DuelPolicy, DuelState, make_duel_policy
from lobandits.policies.registry import split_options
from lobandits.simulation.chunk import take_users
from lobandits.simulation.policy_run import PolicyRun, SimulationError
from lobandits.simulation.problems import Problems
from lobandits.simulation.streams import BLOCK, Stream, block_generator, blocks_of


class Block(NamedTuple):
    """Eight users, or fewer: their rows in the chunk, and their own policy, state and numbers.

    A policy of duels draws as many numbers as it likes. So no block draws from another's.
    """

    rows: slice
    policy: DuelPolicy
    state: DuelState
    rng: np.random.Generator


class DuelRun(PolicyRun):
    """A policy of duels with the states of a chunk's users."""

    policy_type = DuelPolicy
    settings: ClassVar = {"feedback": "duels"}

    @staticmethod
    def named(name: str) -> type[DuelPolicy]:
        """Return the class of that name; refuse a name, or options, that cannot be read."""
        return DUEL_POLICIES[split_options(name, list(DUEL_POLICIES))[0]]

    @staticmethod
    def make(name: str, problems: Problems, horizon: int) -> DuelPolicy:
        """Return the policy of that name for these problems."""
        return make_duel_policy(name, cast("Any", problems))

    def start(self, policy: DuelPolicy) -> None:
        """Give all users a state without duels, and each block its random numbers."""
        if self.problems.rewards != "gaussian":
            raise LobInputError(
                f"duels compare Gaussian rewards, but the problems have {self.problems.rewards} "
                "ones; use rewards='gaussian'"
            )
        if self.problems.arrivals is not None:
            raise LobInputError("duels know no contexts; use n_contexts=1")
        if self.problems.changes is not None:
            raise LobInputError("duels know no users who change; leave out change_every")
        n, chunk = self.problems.n_users, self.chunk
        self.blocks = []
        for number, first in zip(blocks_of(chunk.first, n), range(0, n, BLOCK), strict=True):
            size = min(BLOCK, n - first)
            own = take_users(self.label, policy, first, size)
            rng = block_generator(chunk.seed, Stream.CHOICES, number)
            self.blocks.append(Block(slice(first, first + size), own, own.start(size), rng))

    def rounds(self, shocks: FloatArray, stop: Event) -> FloatArray:
        """Choose, duel and record, once for each row of ``shocks``."""
        regret = np.empty(shocks.shape)
        for shock, row in zip(shocks, regret, strict=True):
            if stop.is_set():
                raise CancelledError
            for block in self.blocks:
                pairs = self._choose(block)
                winners, row[block.rows] = self._duel(pairs, shock[block.rows], block.rows)
                block.policy.record(block.state, pairs, winners)
            self.now += 1
        return regret

    def _choose(self, block: Block) -> IntArray:
        """Return the pairs of one block's users, or name the first user with an illegal arm."""
        pairs, k = block.policy.choose(block.state, block.rng), self.problems.n_arms
        shape = (block.state.n_users, 2)
        if not isinstance(pairs, np.ndarray) or pairs.shape != shape or pairs.dtype != np.int64:
            raise TypeError(f"choose() must return int64 of shape {shape}, got {pairs!r}")
        illegal = ((pairs < 0) | (pairs >= k)).any(axis=1)
        if illegal.any():
            user = int(illegal.argmax())
            what = f"chose the pair {pairs[user].tolist()}, but the arms are 0 to {k - 1}"
            first = self.chunk.first + block.rows.start
            raise SimulationError(self.label, first + user, self.now + 1, what)
        return pairs

    def _duel(self, pairs: IntArray, shock: FloatArray, rows: slice) -> tuple[IntArray, FloatArray]:
        """Return who wins, and the regret, of one duel for each user."""
        means = np.take_along_axis(self.problems.means[rows], pairs, axis=1)
        lead = means[:, 0] - means[:, 1] + np.sqrt(2.0) * self.problems.sigma * shock
        regret = np.take_along_axis(self.problems.gaps[rows], pairs, axis=1).mean(axis=1)
        return np.where(lead > 0, pairs[:, 0], pairs[:, 1]), regret
