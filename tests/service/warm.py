"""What the process that servers are forked from loads: all imports, and compiled kernels."""

import numpy as np
from tests.service.serving import policy

import lobandits.service.app
import lobandits.service.server  # noqa: F401

state = policy().start()
policy().choose(state, 0)
policy().propensities(state)
policy().record(state, np.array([0]), np.array([1.0]))
