"""What can go wrong in a service, with codes that programs can read."""

from typing import ClassVar

from lobandits.errors import LobError, LobInputError


class ServiceError(LobError):
    """Base of the service's errors; ``code`` names each, and HTTP answers carry it."""

    code = "service_error"
    kinds: ClassVar[dict[str, type["ServiceError"]]] = {}

    def __init_subclass__(cls) -> None:
        cls.kinds[cls.code] = cls


class InvalidRequestError(ServiceError, LobInputError):
    """A value cannot be taken; ``code`` is ``invalid_`` and the name of the value."""

    code = "invalid_request"

    def __init__(self, value: str, message: str) -> None:
        super().__init__(value, message)
        self.code = f"invalid_{value}"

    def __str__(self) -> str:
        return str(self.args[1])


class UnknownArmError(ServiceError, LobInputError):
    """The model has no arm of that name."""

    code = "unknown_arm"


class UnknownDecisionError(ServiceError, LobInputError):
    """There is no decision with that id."""

    code = "unknown_decision"


class UnknownContextError(ServiceError, LobInputError):
    """The model has no arm in that context."""

    code = "unknown_context"


class UnknownProblemError(ServiceError, LobInputError):
    """The store has no model of that problem."""

    code = "unknown_problem"


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


class UnreadableModelError(ServiceError, LobInputError):
    """A stored model cannot decide here: its policy is unknown, or fails."""

    code = "unreadable_model"


class NoEarlierModelError(ServiceError, LobInputError):
    """There is no model to go back to."""

    code = "no_earlier_model"


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
    """Return the error with that code, as it crossed the network."""
    if code.startswith("invalid_"):
        return InvalidRequestError(code.removeprefix("invalid_"), message)
    error = ServiceError.kinds.get(code, ServiceError)(message)
    error.code = code
    return error
