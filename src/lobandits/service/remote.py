"""Errors that crossed the network: the same classes on both sides, found by their code."""

from lobandits.service.errors import InvalidRequestError, ServiceError


class UnauthorizedError(ServiceError):
    """The key is missing or wrong."""

    code = "unauthorized"


class ForbiddenError(ServiceError):
    """The key may not do that."""

    code = "forbidden"


def error_of(code: str, message: str) -> ServiceError:
    """Return the error with that code, as it crossed the network.

    Examples
    --------
    >>> error_of("unknown_arm", "no such arm")
    UnknownArmError('no such arm')
    """
    if code.startswith("invalid_"):
        return InvalidRequestError(code.removeprefix("invalid_"), message)
    waiting = list(ServiceError.__subclasses__())
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.code == code:
            return kind(message)
    error = ServiceError(message)
    error.code = code
    return error
