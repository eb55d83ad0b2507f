"""EvidenceCurve: how well held-out users are foretold, by the number of states."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from lobandits._checks import FloatArray, shaped_array, whole
from lobandits.errors import LobInputError

FIELDS = ("n_states", "evidence", "gain", "error", "chosen")


@dataclass(frozen=True, eq=False)
class EvidenceCurve:
    """Evidence of held-out users by the number of states.

    Attributes
    ----------
    n_states : tuple of int
    evidence : (len(n_states),)
        Log evidence of a held-out user, on average.
    gain, error : (len(n_states),)
        By how much it exceeds that of one state, and the standard error of this over users.
    chosen : int
        One, unless the best beats it by three standard errors; then the fewest states whose
        evidence is within a standard error of the best.

    Examples
    --------
    >>> gain, error = np.array([0.0, 2.5]), np.array([0.0, 0.2])
    >>> curve = EvidenceCurve((1, 2), np.array([-9.5, -7.0]), gain, error, chosen=2)
    >>> print(curve)
    states  evidence  over one state
         1    -9.500  +0.000 +- 0.000
         2    -7.000  +2.500 +- 0.200  chosen
    >>> print(curve.verdict)
    Structure worth using: 2 states beat one on held-out users by +2.5 +- 0.2 nats per user.
    """

    n_states: tuple[int, ...]
    evidence: FloatArray
    gain: FloatArray
    error: FloatArray
    chosen: int

    @property
    def verdict(self) -> str:
        """One sentence on whether users come in types."""
        if self.chosen == 1:
            return "One state: users differ around one mean; no types of users were found."
        at = self.n_states.index(self.chosen)
        return (
            f"Structure worth using: {self.chosen} states beat one on held-out users by "
            f"{self.gain[at]:+.3g} +- {self.error[at]:.2g} nats per user."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain data, for JSON."""
        values = (getattr(self, name) for name in FIELDS)
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in zip(FIELDS, values, strict=True)
        }

    @classmethod
    def from_dict(cls, data: Any, source: str = "curve") -> "EvidenceCurve":
        """Return the curve that `to_dict` described; errors open with ``source``."""
        if not isinstance(data, dict) or set(data) != set(FIELDS):
            raise LobInputError(f"{source}: expected an object with the fields {', '.join(FIELDS)}")
        numbers = data["n_states"] if isinstance(data["n_states"], list) else []
        tried = tuple(whole(f"{source}: n_states", m) for m in numbers)
        if data["chosen"] not in tried:
            raise LobInputError(f"{source}: chosen is {data['chosen']!r}; expected one of {tried}")
        shape = (len(tried),)
        lines = {
            name: shaped_array(f"{source}: {name}", data[name], shape)
            for name in ("evidence", "gain", "error")
        }
        return cls(n_states=tried, chosen=int(data["chosen"]), **lines)

    def __str__(self) -> str:
        lines = ["states  evidence  over one state"]
        for m, value, gain, error in zip(
            self.n_states, self.evidence, self.gain, self.error, strict=True
        ):
            mark = "  chosen" if m == self.chosen else ""
            lines.append(f"{m:6d}  {value:8.3f}  {gain:+.3f} +- {error:.3f}{mark}")
        return "\n".join(lines)
