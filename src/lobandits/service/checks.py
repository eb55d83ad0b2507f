"""What users, contexts and lists of allowed arms may be."""

from collections.abc import Iterable
from typing import Any

from lobandits.service.errors import InvalidRequestError

MOST_CHARACTERS = 256
MOST_ALLOWED = 10_000


def check_user(user: Any) -> str:
    """Return a user's name: any text of 1 to 256 characters without NUL."""
    if not isinstance(user, str):
        raise InvalidRequestError("user", f"a user must be a string, got {type(user).__name__}")
    if not 1 <= len(user) <= MOST_CHARACTERS:
        raise InvalidRequestError(
            "user", f"a user must have 1 to {MOST_CHARACTERS} characters, got {len(user)}"
        )
    try:
        user.encode()
    except UnicodeEncodeError:
        raise InvalidRequestError("user", "a user must be valid Unicode text") from None
    if "\0" in user:
        raise InvalidRequestError("user", "a user must not contain the character NUL")
    return user


def check_context(context: Any) -> str | None:
    """Return the name of a context; None stands for none."""
    if context is not None and not (isinstance(context, str) and len(context) <= MOST_CHARACTERS):
        raise InvalidRequestError(
            "context", f"a context must be a string of at most {MOST_CHARACTERS} characters"
        )
    return context


def check_allowed(allowed: Any) -> tuple[str, ...] | None:
    """Return the names of allowed arms; None stands for all."""
    if allowed is None:
        return None
    if isinstance(allowed, str) or not isinstance(allowed, Iterable):
        raise InvalidRequestError("allowed", "allowed must be a list of arms")
    names = tuple(allowed)
    if not names or len(names) > MOST_ALLOWED:
        raise InvalidRequestError(
            "allowed", f"allowed must name 1 to {MOST_ALLOWED} arms, got {len(names)}"
        )
    if not all(isinstance(name, str) for name in names):
        raise InvalidRequestError("allowed", "allowed must name arms by strings")
    return names
