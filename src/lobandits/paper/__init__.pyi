from lobandits.paper.catalogue import EXPERIMENTS as EXPERIMENTS
from lobandits.paper.catalogue import GROUPS as GROUPS
from lobandits.paper.experiment import Outcome as Outcome
from lobandits.paper.experiment import Reproduction as Reproduction
from lobandits.paper.runner import reproduce as reproduce

__all__: list[str]
