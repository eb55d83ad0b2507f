"""Frozen values cannot be changed, and are equal, hashed and pickled by what they are made of."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pytest

from lobandits.basics.checks import FloatArray
from lobandits.basics.frozen import Frozen
from lobandits.errors import LobInputError


class Ends(NamedTuple):
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Base(Frozen):
    values: FloatArray
    name: str = field(default="x", repr=False)
    total: float = field(init=False)

    def __post_init__(self) -> None:
        self._set(values=np.asarray(self.values, np.float64), total=float(np.sum(self.values)))

    @cached_property
    def mean(self) -> float:
        return self.total / len(self.values)


@dataclass(frozen=True)
class Derived(Base):
    ends: Ends | None = None


@dataclass(frozen=True, init=False)
class Unchecked(Frozen):
    ends: Ends
    names: tuple[str, ...]

    def __init__(self, low: float) -> None:
        self._set(ends=Ends(np.array([low]), np.array([1.0])), names=("a",))


@dataclass(frozen=True)
class Stored(Frozen):
    ends: tuple[int, ...] = field(metadata={"decode": tuple})
    sizes: FloatArray


def values_like(*values: float) -> Base:
    return Base(np.array(values))


def test_equal_and_hashed_by_the_content_of_arrays() -> None:
    a, b = values_like(1.0, 2.0), values_like(1.0, 2.0)
    assert a == b
    assert hash(a) == hash(b)
    assert {a: 1}[b] == 1
    assert a != values_like(1.0, 3.0)
    assert a != Base(a.values, name="y")
    assert a != Base(a.values.reshape(1, 2))
    assert a != Derived(a.values)
    assert a != "x"
    assert hash(a) != hash(values_like(1.0, 3.0))


def test_dtype_tells_values_apart() -> None:
    whole = Base._of(values=np.zeros(2, np.int64), name="x", total=0.0)
    assert whole != Base._of(values=np.zeros(2), name="x", total=0.0)


def test_cannot_be_changed() -> None:
    a = values_like(1.0, 2.0)
    with pytest.raises(FrozenInstanceError, match="name"):
        a.name = "y"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="other"):
        a.other = "y"  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError, match="name"):
        del a.name
    with pytest.raises(ValueError, match="read-only"):
        a.values[0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        Unchecked(0.0).ends.low[0] = 5.0


def test_arrays_of_the_caller_are_copied_and_stay_writable() -> None:
    given = np.array([1.0, 2.0])
    a = Base(given)
    given[0] = 9.0
    assert a == values_like(1.0, 2.0)


def test_arrays_that_nobody_can_write_are_not_copied() -> None:
    a = values_like(1.0, 2.0)
    assert a._with(name="y").values is a.values


def test_plain_decorator_keeps_what_is_inherited() -> None:
    assert repr(values_like(1.0, 2.0)) == "Base(values=<2>)"
    assert repr(Derived(np.zeros((2, 3)))) == "Derived(values=<2x3>, ends=None)"


def test_with_changes_and_checks_anew() -> None:
    changed = values_like(1.0, 2.0)._with(values=[3.0, 4.0])
    assert changed == values_like(3.0, 4.0)
    assert changed.total == 7.0


@pytest.mark.parametrize(
    "remade", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
)
def test_copies_and_pickles_are_equal_and_as_frozen(remade: Any) -> None:
    a, b = values_like(1.0, 2.0), Unchecked(0.0)
    assert (a.mean, hash(a)) == (1.5, hash(a))
    for value, again in ((a, remade(a)), (b, remade(b))):
        assert value == again
        assert hash(value) == hash(again)
        assert "mean" not in vars(again), "caches are not stored"
    assert remade(a).total == 3.0
    assert not remade(a).values.flags.writeable
    assert not remade(b).ends.low.flags.writeable


def test_plain_and_back() -> None:
    a = Stored(ends=(1, 2), sizes=np.array([0.5]))
    plain = a._plain()
    assert plain == {"ends": [1, 2], "sizes": [0.5]}
    assert Stored._decoded(plain, "thing") == {"ends": (1, 2), "sizes": [0.5]}
    with pytest.raises(LobInputError, match=r"unknown field of thing 'end'; did you mean 'ends'\?"):
        Stored._decoded({"end": 1}, "thing")
    with pytest.raises(LobInputError, match="thing lacks the field 'sizes'"):
        Stored._decoded({"ends": []}, "thing")
