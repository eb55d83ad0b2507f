"""Would it help my users? Policies judged on users who taught nothing."""

from lobandits.evaluation.evaluate import evaluate
from lobandits.evaluation.report import Evaluation, Gain

__all__ = ["Evaluation", "Gain", "evaluate"]
