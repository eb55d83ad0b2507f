"""EvidenceCurve: what it says of users, and its way through a file."""

import numpy as np
import pytest

from lobandits.errors import LobInputError
from lobandits.learning.curve import EvidenceCurve


def curve(alike: float, chosen: int = 1) -> EvidenceCurve:
    """Return a curve on which one state beats users who are alike by so many nats."""
    gain, error = np.array([-alike, 0.0, 0.4]), np.array([0.1, 0.0, 0.1])
    return EvidenceCurve((0, 1, 2), gain - 5.0, gain, error, chosen)


def test_the_verdict_is_one_of_three() -> None:
    types = curve(1.0, chosen=2)
    assert types.users_differ
    assert types.verdict == (
        "Structure worth using: 2 states beat one on held-out users by +0.4 +- 0.1 nats per user."
    )
    assert curve(0.4).users_differ
    assert curve(0.4).verdict == (
        "Structure worth using: users differ, but no types of users were found; one state beats "
        "users who are all alike by +0.4 +- 0.1 nats per held-out user."
    )
    assert not curve(0.2).users_differ
    assert curve(0.2).verdict == (
        "No structure worth using: users differ by no more than noise (+0.2 +- 0.1 nats per "
        "held-out user over users who are all alike), so no types of users were found; the most "
        "popular arm serves all."
    )


def test_a_curve_comes_back_from_plain_data() -> None:
    back = EvidenceCurve.from_dict(curve(1.0, chosen=2).to_dict())
    assert str(back) == str(curve(1.0, chosen=2))
    assert back.verdict == curve(1.0, chosen=2).verdict
    with pytest.raises(LobInputError, match="chosen is 3; expected one of"):
        EvidenceCurve.from_dict(curve(1.0).to_dict() | {"chosen": 3})


def test_a_curve_without_users_who_are_alike() -> None:
    old = EvidenceCurve((1, 2), np.zeros(2), np.zeros(2), np.zeros(2), 1)
    assert not old.users_differ
    assert "no types of users were found" in old.verdict
