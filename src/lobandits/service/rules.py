"""How a service decides beyond its models: a floor of exploration, and a control group."""

from typing import NamedTuple

from lobandits.service.control_group import ControlGroup


class Rules(NamedTuple):
    """The rules of a process.

    ``explore`` of all choices are uniform among the allowed arms. ``control`` is the control
    group of the problem ``problem``.
    """

    explore: float = 0.0
    control: ControlGroup | None = None
    problem: str = ""

    def of(self, problem: str) -> "Rules":
        """Return the rules for a problem."""
        return self if problem == self.problem else self._replace(control=None)

    def in_control(self, user: str) -> bool:
        """Whether the control group decides for a user."""
        return self.control is not None and self.control.holds(user)


PLAIN = Rules()
