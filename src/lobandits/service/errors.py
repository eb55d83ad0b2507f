"""What can go wrong in a service, with codes that programs can read."""

from lobandits.errors import LobError, LobInputError


class ServiceError(LobError):
    """Base of the service's errors; ``code`` names each, and HTTP answers carry it."""

    code = "service_error"


class InvalidRequestError(ServiceError, LobInputError):
    """A value cannot be taken; ``code`` is ``invalid_`` and the name of the value."""

    def __init__(self, value: str, message: str) -> None:
        super().__init__(message)
        self.code = f"invalid_{value}"

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.code.removeprefix("invalid_"), str(self))


class UnknownArmError(ServiceError, LobInputError):
    """The model has no arm of that name."""

    code = "unknown_arm"


class UnknownDecisionError(ServiceError, LobInputError):
    """There is no decision with that id."""

    code = "unknown_decision"


class UnknownUserError(ServiceError, LobInputError):
    """No decision was made for that user, or the user was forgotten."""

    code = "unknown_user"


class RewardConflictError(ServiceError, LobInputError):
    """The decision has another reward already."""

    code = "reward_conflict"


class DecisionExpiredError(RewardConflictError):
    """The reward came too late: the decision was given the default reward."""

    code = "expired"


class IdConflictError(ServiceError, LobInputError):
    """The id belongs to a decision for another user."""

    code = "id_conflict"


class StoreUnavailableError(ServiceError):
    """The store cannot be reached, or is too busy; the call may be repeated."""

    code = "store_unavailable"


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
