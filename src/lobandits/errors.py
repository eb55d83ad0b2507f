"""The one family of errors and warnings of lobandits."""


class LobError(Exception):
    """Base of every error that lobandits raises on purpose."""


class LobInputError(LobError, ValueError):
    """The input is wrong; the message names the value and the fix."""


class LobWarning(UserWarning):
    """Something is allowed but probably not meant."""
