"""KendallKMeans where scikit-learn is not installed."""

import subprocess
import sys

CODE = """
import sys

sys.modules["sklearn"] = None
import numpy as np
from lobandits.errors import LobInputError
from lobandits.paper.clustering.kmeans import KendallKMeans

X = [[5, 4, 1], [3.5, 3, 2], [1, 2, 5], [3, np.nan, 4]]
model = KendallKMeans(n_states=2)
bad = lambda: model.predict(X), lambda: model.fit([1, 2]), lambda: model.fit([[1, np.inf]])
for wrong in bad:
    try:
        wrong()
    except LobInputError as error:
        print(error)
print(model.fit_predict(X), model.rankings_.tolist())
print(model.set_params(n_states=1, n_init=2).fit(X).rankings_.tolist(), model.get_params())
for wrong in (lambda: model.predict([[1, 2]]), lambda: model.set_params(n_state=3)):
    try:
        wrong()
    except LobInputError as error:
        print(error)
"""


def test_it_learns_without_scikit_learn() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "this KendallKMeans is not fitted; call fit(X) first",
        "X must have shape (n_users, at least 2), got (2,)",
        "X must be means of at least one user, finite or nan",
        "[0 0 1 1] [[0, 1, 2], [2, 1, 0]]",
        "[[0, 1, 2]] {'n_states': 1, 'n_init': 2, 'max_iter': 100, 'random_state': 0, "
        "'progress': False}",
        "X must have shape (n_users, 3), got (1, 2)",
        "unknown parameter of KendallKMeans 'n_state'; did you mean 'n_states'? "
        "Known: n_states, n_init, max_iter, random_state, progress",
    ]
