"""How a simulation ends early."""

from lobandits.errors import LobError


class SimulationError(LobError, RuntimeError):
    """A policy failed: it raised an error, or chose no arm that exists.

    Rounds count from 1, and 0 is while the policy is made. ``user`` is None where none alone is
    to blame.
    """

    def __init__(self, policy: str, user: int | None, round: int, what: str) -> None:  # noqa: A002
        super().__init__(policy, user, round, what)
        self.policy, self.user, self.round, self.what = policy, user, round, what

    def __str__(self) -> str:
        whom = "" if self.user is None else f", user {self.user}"
        when = f"round {self.round}" if self.round else "before the first round"
        return f"policy {self.policy!r}{whom}, {when}: {self.what}"


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C: the message says how far the run had come."""
