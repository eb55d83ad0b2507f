"""Means of arms and of states, as a text or a file."""

from pathlib import Path
from typing import TYPE_CHECKING

from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from lobandits._checks import FloatArray


def parse_means(text: str, arms: tuple[str, ...]) -> list[float]:
    """Return the means of the arms, in order or by name, that stand in ``--means``."""
    from lobandits.orders.arms import arm_index

    parts = [part.strip() for part in text.split(",")]
    if "=" not in text:
        return [_number(part) for part in parts]
    named: dict[int, float] = {}
    for part in parts:
        name, sign, value = part.rpartition("=")
        if not sign:
            raise LobInputError(f"--means names some arms but not {part!r}; write name=value")
        arm = arm_index(arms, name.strip())
        if arm in named:
            raise LobInputError(f"--means gives arm {arms[arm]!r} twice")
        named[arm] = _number(value)
    left = [name for arm, name in enumerate(arms) if arm not in named]
    if left:
        raise LobInputError(f"--means leaves out: {', '.join(left)}")
    return [named[arm] for arm in range(len(arms))]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise LobInputError(f"--means holds {text!r}, which is no number") from None


def read_table(path: Path) -> "FloatArray":
    """Return the numbers in a JSON or CSV file."""
    import numpy as np

    from lobandits._checks import finite_array
    from lobandits._files import read_json

    if path.suffix.lower() == ".json":
        return finite_array(str(path), read_json(path), ndim=2)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [[float(cell) for cell in line.split(",")] for line in lines if line.strip()]
        return finite_array(str(path), np.array(rows), ndim=2)
    except OSError as error:
        raise LobInputError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise LobInputError(f"{path} is no table of numbers: {error}") from None
