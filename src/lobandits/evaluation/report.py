"""Evaluation: what was found about policies on held-out users, and what follows from it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lobandits.basics.checks import FloatArray, fraction, one_of, whole
from lobandits.basics.tables import Tabular
from lobandits.errors import LobInputError
from lobandits.evaluation.intervals import families_standing, spanning_interval
from lobandits.evaluation.replay import Replays
from lobandits.learning import Model
from lobandits.simulation.result import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOGS = "logs"
WITHOUT_STATES = (LOGS, "popular", "ts", "ucb")  # what one can do without learning states
LEVEL = 0.95
NOTHING = 0.02  # of what the best rival earns: a gain below it makes no difference


class Gain(NamedTuple):
    """How much more one policy earns than another in the first rounds, on average over users."""

    policy: str
    over: str
    rounds: int
    mean: float
    low: float
    high: float
    level: float
    rival: float  # what the other earns

    def __str__(self) -> str:
        share = f" ({self.mean / self.rival:+.1%})" if self.rival > 0 else ""
        return (
            f"{self.policy} over {self.over}: {self.mean:+.3g}{share} in {self.rounds} decisions, "
            f"{self.level:.0%} interval {self.low:.3g} to {self.high:.3g}"
        )


@dataclass(frozen=True, eq=False)
class Evaluation(Tabular):
    """What policies taught by some users earn for others.

    Attributes
    ----------
    rewards
        Cumulative reward by policy, "logs" among them, at each of ``points``:
        (splits, families, bootstraps, players, points).
    best
        The same of the best arm of each user.
    curves
        Mean cumulative reward by policy: (families, rounds).
    points
        The rounds at which policies are compared.
    typical
        The round that the verdict speaks of.
    judged
        Users judged in each split.
    models
        What the teachers of each split taught.
    evidence
        By how much better states than one state, both of teachers, foretell each judged user.
    reward
        The name of the column of rewards, their unit.
    binary
        Whether all rewards are 0 or 1.
    replays
        What the logs alone say.
    facts, notes
        About the logs, in words.

    Examples
    --------
    >>> import lobandits as lob
    >>> logs = lob.make_ratings(n_users=120, n_arms=4, n_states=2, ratings_per_user=30).table
    >>> columns = {"user": "userId", "arm": "genre", "reward": "rating"}
    >>> report = lob.evaluate(logs, ["popular", "ts"], horizon=10, n_states=2, **columns)
    >>> print(*report.rewards)
    popular ts logs
    """

    rewards: Mapping[str, FloatArray] = field(repr=False)
    best: FloatArray = field(repr=False)
    curves: Mapping[str, FloatArray] = field(repr=False)
    points: tuple[int, ...]
    typical: int
    judged: int
    models: tuple[Model, ...] = field(repr=False)
    evidence: FloatArray = field(repr=False)
    reward: str
    binary: bool
    replays: Replays = field(repr=False)
    facts: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies, and "logs" for what the logs did."""
        return tuple(self.rewards)

    def gain(self, policy: str, over: str, rounds: int | None = None, level: float = LEVEL) -> Gain:
        """Return how much more ``policy`` earns than ``over`` in the first rounds, paired by user.

        ``rounds`` is one of ``points``, by default the typical one.
        """
        at = self._place(rounds)
        mine, theirs = (self._rewards(name)[..., at] for name in (policy, over))
        level, standing = fraction("level", level), self.standing
        found = spanning_interval(mine - theirs, self.judged, level, standing)
        rival = float(theirs[:, standing].mean())
        return Gain(policy, over, self.points[at], *found, level, rival)

    @property
    def standing(self) -> slice:
        """The families of truths that judged users have not refuted.

        One state falls where states foretell them clearly better, in splits that all taught
        several states.
        """
        several = min(model.prior.n_states for model in self.models) > 1
        return families_standing(self.evidence) if several else slice(None)

    def _rewards(self, policy: str) -> FloatArray:
        return self.rewards[one_of("policy", policy, self.policies)]

    def _place(self, rounds: int | None) -> int:
        wanted = self.typical if rounds is None else whole("rounds", rounds)
        if wanted not in self.points:
            known = ", ".join(map(str, self.points))
            raise LobInputError(f"rounds is {rounds!r}; policies are compared after {known}")
        return self.points.index(wanted)

    @property
    def families(self) -> str:
        """Under which truths gains are estimated, in words."""
        if all(model.prior.n_states == 1 for model in self.models):
            return "no types of users were found: one state of users, who differ around its means"
        n, mean = len(self.evidence), float(self.evidence.mean())
        by = f"{mean:+.2g} +- {self.evidence.std() / n**0.5:.2g} nats per judged user"
        if self.standing.start:
            return f"types of users are clear: states foretell better than one state, by {by}"
        return (
            f"types of users are not clear: states foretell judged users by {by} over one "
            "state, so gains are the mean of both, and intervals span both"
        )

    def best_of(self, names: tuple[str, ...], rounds: int | None = None) -> str:
        """Return the policy that earns most, by its estimate."""
        at = self._place(rounds)
        return max(names, key=lambda name: float(self._estimates(name, at).mean()))

    def _estimates(self, name: str, at: int) -> FloatArray:
        """Return what a policy earned by a point, under the families that stand."""
        return self.rewards[name][:, self.standing][..., at]

    @property
    def rivals(self) -> tuple[str, ...]:
        """What one can do without states: the logs, and policies that learn none."""
        return tuple(p for p in self.policies if p.partition("(")[0] in WITHOUT_STATES)

    @property
    def candidates(self) -> tuple[str, ...]:
        """Policies that decide with what was learned of states."""
        return tuple(p for p in self.policies if p not in self.rivals)

    @property
    def decisive(self) -> Gain:
        """The gain that the verdict rests on: of the best candidate over its hardest rival.

        Of all rivals it is the one over which the gain is least certain. As the best of several
        candidates was picked, the level is raised for each (Bonferroni).
        """
        candidates = self.candidates or self.rivals
        policy = self.best_of(candidates)
        level = 1 - (1 - LEVEL) / len(candidates)
        rivals = [rival for rival in self.rivals if rival != policy] or list(self.policies[:1])
        return min((self.gain(policy, r, level=level) for r in rivals), key=lambda g: g.low)

    @property
    def kind(self) -> str:
        """The verdict in a word: "use", "no difference" or "not enough data"."""
        gain = self.decisive
        if gain.low > 0:
            return "use"
        return "no difference" if gain.high < NOTHING * abs(gain.rival) else "not enough data"

    @property
    def verdict(self) -> str:
        """One sentence: use it, it makes no difference, or not enough data to tell."""
        kind, policy, rival = self.kind, self.decisive.policy, self.best_of(self.rivals)
        gain = self.gain(policy, rival) if kind == "use" else self.decisive
        known = self.words(self.gain(policy, LOGS), brief=True)
        words = self.words(gain) + (f", and {known}" if gain.over != LOGS else "")
        if kind == "use":
            return f"Use {policy}: it earns {words}."
        if kind == "no difference":
            return f"It makes no difference: {policy} earns {words}; {rival} will do."
        return f"Not enough data to tell: {policy} earns {words}."

    def words(self, gain: Gain, brief: bool = False) -> str:
        """Return a gain in words: of rewards that are 0 or 1 in percent, else in their own unit."""
        share = 100 / gain.rival if self.binary and gain.rival > 0 else 1.0
        sign = " %" if share != 1 else ""
        mean, low, high = (f"{share * value:.3g}" for value in gain[3:6])
        plus = "" if gain.mean < 0 else "+"
        when = "" if brief else f" in the first {gain.rounds} decisions"
        return (
            f"{plus}{mean}{sign} {self.reward} over {gain.over}{when} "
            f"({100 * gain.level:.3g} % interval {low} to {high}{sign})"
        )

    def _rows(self) -> list[dict[str, Any]]:
        return [self.row(policy, rounds) for rounds in self.points for policy in self.policies]

    def _caption(self) -> str:
        return self.verdict

    def summary(self) -> Summary:
        """Return a table: reward and regret at each point, and gains over the best rival."""
        title = "\n".join(f"{name}: {value}" for name, value in self.facts.items())
        note = [self.families, *self.replayed(), *self.notes, self.verdict]
        return Summary(title, tuple(self._rows()), "\n".join(note))

    def replayed(self) -> list[str]:
        """Return what the logs alone say of the best candidate, or why they say nothing."""
        policy, rivals = self.decisive.policy, [r for r in self.rivals if r != LOGS]
        head = f"from the logs alone ({self.replays.way})"
        if self.replays.why:
            return [f"{head}: nothing, as {self.replays.why}"]
        lines = []
        for rival in rivals:
            for rounds in self.points:
                found = self.replays.gain(policy, rival, rounds)
                if isinstance(found, str):
                    lines.append(f"{head}, {policy} over {rival}: nothing more, as {found}")
                    break
                reach, n = self.replays.reached(policy, rounds)
                gain = Gain(policy, rival, rounds, *found, LEVEL, 0.0)
                lines.append(f"{head}: {self.words(gain)}; {reach:,} of {n:,} users reach it")
        return lines

    def row(self, policy: str, rounds: int) -> dict[str, Any]:
        """Return what a policy earned in the first rounds, and its gains, as tables show them."""
        at = self._place(rounds)
        earned = self._estimates(policy, at)
        rival = self.best_of(self.rivals, rounds)
        gain, over_logs = self.gain(policy, rival, rounds), self.gain(policy, LOGS, rounds)
        return {
            "decisions": str(rounds),
            "policy": policy,
            "reward": float(earned.mean()),
            "regret": float((self.best[:, self.standing][..., at] - earned).mean()),
            "gain": gain.mean,
            "low": gain.low,
            "high": gain.high,
            "over": rival,
            "over logs": over_logs.mean,
            "low ": over_logs.low,
            "high ": over_logs.high,
        }

    def plot(self) -> "Figure":
        """Draw what policies earn over the best rival, by round and with intervals."""
        from lobandits.evaluation.report_page import plot_evaluation

        return plot_evaluation(self)

    def save_html(self, path: str | os.PathLike[str]) -> Path:
        """Write a page without anything to fetch: verdict, figure, tables, what they rest on."""
        from lobandits.basics.files import write_text
        from lobandits.evaluation.report_page import evaluation_page

        write_text(path, evaluation_page(self))
        return Path(path)

    def __str__(self) -> str:
        return str(self.summary())
