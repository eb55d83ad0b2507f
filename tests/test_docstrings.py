"""Every public object shows how it is used, in a doctest."""

import inspect

import pytest

import lobandits as lob

PUBLIC = [name for name in lob.__all__ if name not in ("LIKELIHOODS", "POLICIES")]
ERRORS = [
    name
    for name in PUBLIC
    if inspect.isclass(getattr(lob, name)) and issubclass(getattr(lob, name), BaseException)
]


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in ERRORS])
def test_every_public_object_has_an_example(name: str) -> None:
    assert ">>> " in (getattr(lob, name).__doc__ or "")


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_says_when_it_is_raised(name: str) -> None:
    assert len((getattr(lob, name).__doc__ or "").split()) >= 5
