"""What the process that servers are forked from loads: all imports, and compiled kernels."""

import numpy as np
from tests.service.serving import policy, policy_that_forgets

import lobandits.service.http.serve  # noqa: F401

for make in (policy, policy_that_forgets):
    state = make().start()
    make().choose(state, 0)
    make().probabilities(state)
    make().record(state, np.array([0]), np.array([1.0]))
    make().restore(state.to_dict())
