"""What the process that servers are forked from loads: all imports, and compiled kernels."""

import numpy as np
from tests.service.serving import policy

import lobandits.service.http.serve  # noqa: F401

state = policy().start()
policy().choose(state, 0)
policy().probabilities(state)
policy().record(state, np.array([0]), np.array([1.0]))
